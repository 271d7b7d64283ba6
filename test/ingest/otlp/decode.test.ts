import { describe, expect, test } from 'vitest';
import { type Encoding, otlpDecoders } from '../../../src/ingest/formats/otlp/decode.ts';
import type { Signal } from '../../../src/ingest/formats/otlp/request.ts';
import {
  attributes,
  encodeAs,
  evaluation,
  logs,
  metrics,
  point,
  read,
  resource,
  spans,
  successTotal,
  sum,
  traces,
  type Value,
} from './messages.ts';

const noon = Date.UTC(2026, 0, 31, 12);
const minute = noon / 60_000;
const encodings: readonly Encoding[] = ['protobuf', 'json'];
const nothing = { rejected: 0, notes: [], totals: [] };
const one = { resource: 0, feature: 'checkout', minute, checks: 1 };
const shown = ['Production', 'checkout-api', '1.4.0'];

function decode(encoding: Encoding, signal: Signal, request: object) {
  return read(encoding, signal, encodeAs(encoding, signal, request));
}

describe.each(encodings)('OTLP request as %s', (encoding) => {
  const events: readonly [what: string, values: Record<string, Value>, found: object][] = [
    ['a variant', { 'feature_flag.result.variant': 'on' }, { variant: 'on' }],
    ['a variant of earlier conventions', { 'feature_flag.variant': 'off' }, { variant: 'off' }],
    ['a boolean value', { 'feature_flag.result.value': true }, { variant: 'enabled' }],
    ['a false value', { 'feature_flag.result.value': false }, { variant: 'disabled' }],
    ['a text value', { 'feature_flag.result.value': 'blue' }, { variant: 'blue' }],
    ['a number', { 'feature_flag.result.value': 42 }, { variant: '42' }],
    [
      'an object, which is not a name',
      { 'feature_flag.result.value': `{"a":"${'b'.repeat(300)}"}` },
      { variant: '(value)' },
    ],
    ['neither variant nor value', {}, { variant: '(unknown)' }],
    ['an error', { 'error.type': 'flag_not_found', 'feature_flag.result.variant': 'on' }, { variant: '(error)' }],
    ['the reason error', { 'feature_flag.result.reason': 'ERROR' }, { variant: '(error)' }],
    [
      'a user',
      { 'feature_flag.result.variant': 'on', 'feature_flag.context.id': 'user-7' },
      { variant: 'on', user: 'user-7' },
    ],
  ];

  test.each(events)('counts an evaluation event with %s', (_, values, found) => {
    expect(decode(encoding, 'logs', logs([evaluation(values, noon)]))).toEqual({
      ...nothing,
      resources: [[...shown, 1]],
      checks: [{ ...one, ...found }],
    });
  });

  test('puts equal evaluation events of a minute in one row', () => {
    const on = { 'feature_flag.result.variant': 'on' };
    const sent = logs([evaluation(on, noon), evaluation(on, noon + 59_999), evaluation(on, noon + 60_000)]);
    expect(decode(encoding, 'logs', sent).checks).toEqual([
      { ...one, variant: 'on', checks: 2 },
      { ...one, variant: 'on', minute: minute + 1 },
    ]);
  });

  test('ignores unrelated log records, and finds evaluation events by the attribute event.name', () => {
    const other = { timeUnixNano: '1', body: { stringValue: 'GET /' }, attributes: attributes({ key: 'x' }) };
    const { eventName, ...older } = evaluation({ 'event.name': 'feature_flag.evaluation' }, noon);
    expect(eventName).toBe('feature_flag.evaluation');
    expect(decode(encoding, 'logs', logs([other, older]))).toMatchObject({
      rejected: 0,
      checks: [{ ...one, variant: '(unknown)' }],
    });
  });

  test('counts a record without a time at its observed time, or else at its arrival', () => {
    const { timeUnixNano, ...timeless } = evaluation({}, noon);
    const sent = logs([{ ...timeless, observedTimeUnixNano: timeUnixNano }, timeless]);
    expect(decode(encoding, 'logs', sent).checks).toEqual([
      { ...one, variant: '(unknown)' },
      { resource: 0, feature: 'checkout', variant: '(unknown)', checks: 1 },
    ]);
  });

  test.each(['feature_flag.evaluation', 'feature_flag'])('counts the span event %s', (name) => {
    const { eventName: _, ...event } = evaluation({ 'feature_flag.variant': 'on' }, noon);
    const sent = traces([
      { ...event, name },
      { name: 'exception', timeUnixNano: '1' },
    ]);
    expect(decode(encoding, 'traces', sent)).toMatchObject({ ...nothing, checks: [{ ...one, variant: 'on' }] });
  });

  test('counts a span that is an evaluation, but no other span', () => {
    const { eventName: _, timeUnixNano, ...span } = evaluation({ 'feature_flag.result.variant': 'on' }, noon);
    const others = ['feature_flag', 'GET /'].map((name) => ({ ...span, name }));
    const sent = spans([{ ...span, name: 'feature_flag.evaluation', startTimeUnixNano: timeUnixNano }, ...others]);
    expect(decode(encoding, 'traces', sent)).toMatchObject({ ...nothing, checks: [{ ...one, variant: 'on' }] });
  });

  test('separates the resources of a request, and merges equal resources', () => {
    const staging = resource({ 'deployment.environment.name': 'Staging' });
    const older = { attributes: attributes({ 'deployment.environment': 'Production' }) };
    const of = [resource(), staging, resource(), older];
    const sent = { resourceLogs: of.flatMap((each) => logs([evaluation({}, noon)], each).resourceLogs) };
    expect(decode(encoding, 'logs', sent).resources).toEqual([
      [...shown, 2],
      ['Staging', 'checkout-api', '1.4.0', 1],
      ['Production', undefined, undefined, 1],
    ]);
  });

  test('rejects an event without a flag or with an invalid name, and counts the other events', () => {
    const sent = logs([
      { ...evaluation({}, noon), attributes: [] },
      evaluation({ 'feature_flag.key': 'x'.repeat(257) }, noon),
      evaluation({ 'feature_flag.result.variant': 'a\nb' }, noon),
      evaluation({ 'feature_flag.result.variant': 'on' }, noon),
    ]);
    expect(decode(encoding, 'logs', sent)).toMatchObject({
      rejected: 3,
      notes: ['name_dropped'],
      checks: [{ ...one, variant: 'on' }],
    });
  });

  test('adds up the data points of delta sums', () => {
    const errors = sum(1, [point(3, noon)], 'feature_flag.evaluation_error_total');
    const sent = metrics([sum(1, [point(2, noon), point(5, noon + 1)]), errors]);
    expect(decode(encoding, 'metrics', sent)).toMatchObject({
      ...nothing,
      checks: [
        { ...one, variant: 'on', checks: 7 },
        { ...one, variant: '(error)', checks: 3 },
      ],
    });
  });

  test('reads cumulative sums with their start time', () => {
    const sent = metrics([sum(2, [point(2 ** 40, noon, noon - 60_000)])]);
    expect(decode(encoding, 'metrics', sent)).toMatchObject({
      rejected: 0,
      checks: [],
      totals: [{ resource: 0, feature: 'checkout', variant: 'on', value: 2 ** 40, at: noon, start: noon - 60_000 }],
    });
  });

  test('ignores metrics that count the same evaluations a second time, and unrelated metrics', () => {
    const names = ['feature_flag.evaluation_requests_total', 'feature_flag.evaluation_active_count', 'http.requests'];
    const sent = metrics(names.map((name) => sum(1, [point(2, noon)], name)));
    expect(decode(encoding, 'metrics', sent)).toEqual({ ...nothing, resources: [], checks: [] });
  });

  test('counts only monotonic sums with a temporality, and rejects all other metrics of evaluations', () => {
    const histogram = { name: successTotal, histogram: { dataPoints: [{ count: '1' }, { count: '2' }] } };
    const gauge = { name: successTotal, gauge: { dataPoints: [point(1, noon)] } };
    const falling = { name: successTotal, sum: { ...sum(1, [point(1, noon)]).sum, isMonotonic: false } };
    const sent = metrics([histogram, gauge, falling, sum(0, [point(1, noon)]), sum(1, [point(4, noon)])]);
    expect(decode(encoding, 'metrics', sent)).toMatchObject({
      rejected: 5,
      notes: ['sum_unsupported'],
      checks: [{ checks: 4 }],
    });
  });

  test('rejects negative, fractional and huge values, and counts the other values', () => {
    const bad = [-1, 1.5, 2 ** 31, Number.POSITIVE_INFINITY].map((value) => point(value, noon));
    const sent = metrics([sum(1, [...bad, point(4, noon)])]);
    // JSON cannot express infinity. A point without a value does not count as rejected.
    expect(decode(encoding, 'metrics', sent)).toMatchObject({
      rejected: encoding === 'json' ? 3 : 4,
      notes: ['value_dropped'],
      checks: [{ checks: 4 }],
    });
  });

  test('rejects values that are not numbers, and counts the other values', () => {
    const nan = encoding === 'json' ? 'NaN' : Number.NaN;
    const { startTimeUnixNano, timeUnixNano, attributes: of } = point(1, noon);
    const valueless = { startTimeUnixNano, timeUnixNano, attributes: of };
    const sent = metrics([sum(1, [{ ...valueless, asDouble: nan }, valueless, point(4, noon)])]);
    expect(decode(encoding, 'metrics', sent)).toMatchObject({
      rejected: 1,
      notes: ['value_dropped'],
      checks: [{ checks: 4 }],
    });
  });

  test('identifies a series by its start time and all its attributes, in any order', () => {
    const computeDigest = (more: object, start = noon - 1, of: object = resource()) => {
      const each = { ...point(1, noon, start), ...more };
      const body = encodeAs(encoding, 'metrics', metrics([sum(2, [each])], of));
      return otlpDecoders[`metrics-${encoding}`](body).totals.slice(6).join();
    };
    const list = point(1, noon, 0, { reason: 'STATIC' }).attributes;
    const same = computeDigest({ attributes: list });
    expect(computeDigest({ attributes: list.toReversed() })).toBe(same);
    expect(computeDigest({ attributes: list, asInt: '9' })).toBe(same);
    const others = [
      computeDigest({}),
      computeDigest({ attributes: list }, noon - 2),
      computeDigest({ attributes: list }, noon - 1, resource({ 'service.instance.id': 'b' })),
    ];
    expect(new Set([same, ...others]).size).toBe(4);
  });

  test('rejects a record whose name is not UTF-8, and counts the other records', () => {
    const broken = 'B\ufffdD';
    const sent = logs([
      evaluation({ 'feature_flag.key': broken }, noon),
      evaluation({ 'feature_flag.result.variant': 'on', note: broken }, noon),
    ]);
    const body = Buffer.from(encodeAs(encoding, 'logs', sent)).toString('latin1');
    const cut = Buffer.from(body.replaceAll('\xef\xbf\xbd', '\xff\xfe\xfd'), 'latin1');
    const found = () => read(encoding, 'logs', cut);
    // A JSON text that is not UTF-8 is refused as a whole.
    if (encoding === 'json') expect(found).toThrow('Send UTF-8');
    else expect(found()).toMatchObject({ rejected: 1, notes: ['name_dropped'], checks: [{ ...one, variant: 'on' }] });
  });

  test('ignores unknown fields of an OTLP request', () => {
    const sent = logs([{ ...evaluation({}, noon), severityNumber: 9, flags: 1, droppedAttributesCount: 2 }]);
    expect(decode(encoding, 'logs', { ...sent }).checks).toHaveLength(1);
  });

  test('accepts an empty OTLP request', () => {
    expect(decode(encoding, 'traces', {})).toEqual({ ...nothing, resources: [], checks: [] });
  });
});
