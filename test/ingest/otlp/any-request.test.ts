import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import { type Encoding, otlpDecoders } from '../../../src/ingest/formats/otlp/decode.ts';
import type { Signal } from '../../../src/ingest/formats/otlp/request.ts';
import { encodeAs, read, successTotal } from './messages.ts';

const encodings: readonly Encoding[] = ['protobuf', 'json'];

function decode(encoding: Encoding, signal: Signal, request: object) {
  return read(encoding, signal, encodeAs(encoding, signal, request));
}

const names = fc.constantFrom(
  ...['feature_flag.key', 'feature_flag.result.variant', 'feature_flag.result.value', 'error.type'],
  ...['feature_flag.context.id', 'event.name', 'service.name', 'deployment.environment.name', 'http.route'],
);
const values = fc.oneof(
  fc.record({
    stringValue: fc.oneof(fc.constantFrom('on', 'off', '', 'feature_flag.evaluation'), fc.string({ unit: 'grapheme' })),
  }),
  fc.record({ boolValue: fc.boolean() }),
  fc.record({ intValue: fc.maxSafeInteger().map(String) }),
  fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
  fc.constant({ arrayValue: { values: [{ stringValue: 'x' }] } }),
);
const lists = fc.array(fc.record({ key: names, value: values }), { maxLength: 6 });
const times = fc.integer({ min: 0, max: 2 ** 31 }).map((seconds) => `${seconds}${seconds === 0 ? '' : '000000007'}`);
const records = fc.record({
  timeUnixNano: times,
  eventName: fc.constantFrom('feature_flag.evaluation', 'feature_flag', 'other', ''),
  attributes: lists,
});
const points = fc.record({
  startTimeUnixNano: times,
  timeUnixNano: times,
  asInt: fc.integer({ min: -3, max: 2 ** 31 + 2 }).map(String),
  attributes: lists,
});
const sums = fc.record({
  name: fc.constantFrom(successTotal, 'feature_flag.evaluation_error_total', 'other'),
  sum: fc.record({
    dataPoints: fc.array(points, { maxLength: 4 }),
    aggregationTemporality: fc.nat(3),
    isMonotonic: fc.boolean(),
  }),
});
const some = <T>(each: fc.Arbitrary<T>) => fc.array(each, { maxLength: 3 });
const requests = {
  logs: fc.record({
    resourceLogs: some(
      fc.record({
        resource: fc.record({ attributes: lists }),
        scopeLogs: some(fc.record({ logRecords: some(records) })),
      }),
    ),
  }),
  traces: fc.record({
    resourceSpans: some(
      fc.record({
        resource: fc.record({ attributes: lists }),
        scopeSpans: some(
          fc.record({
            spans: some(
              fc.record({ events: some(records.map(({ eventName: name, ...rest }) => ({ name, ...rest }))) }),
            ),
          }),
        ),
      }),
    ),
  }),
  metrics: fc.record({
    resourceMetrics: some(
      fc.record({ resource: fc.record({ attributes: lists }), scopeMetrics: some(fc.record({ metrics: some(sums) })) }),
    ),
  }),
};

describe.each(Object.keys(requests) as Signal[])('OTLP request of %s', (signal) => {
  test('a request as protobuf and the same request as JSON decode to the same result', () => {
    fc.assert(
      fc.property(requests[signal] as fc.Arbitrary<object>, (request) => {
        expect(decode('protobuf', signal, request)).toEqual(decode('json', signal, request));
      }),
    );
  });

  test.each(encodings)('a request as %s with changed bytes is refused or decoded', (encoding) => {
    const changed = fc.tuple(requests[signal] as fc.Arbitrary<object>, fc.array(fc.tuple(fc.nat(), fc.nat(255))));
    fc.assert(
      fc.property(changed, ([request, changes]) => {
        const body = encodeAs(encoding, signal, request);
        for (const [at, byte] of changes) if (body.length > 0) body[at % body.length] = byte;
        try {
          otlpDecoders[`${signal}-${encoding}`](body);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          expect([400, 413]).toContain(error.status);
        }
      }),
    );
  });
});

describe('hostile OTLP request', () => {
  test('an OTLP request of millions of empty messages is refused', () => {
    const body = Buffer.alloc(4 * 1024 * 1024);
    for (let at = 0; at < body.length; at += 2) body[at] = 0x0a; // An empty `resource_logs` field.
    expect(() => otlpDecoders['logs-protobuf'](body)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
    const json = Buffer.from(`{"resourceLogs":[${'{},'.repeat(1_000_000)}{}]}`);
    expect(gzipSync(json).length).toBeLessThan(16 * 1024);
    expect(() => otlpDecoders['logs-json'](json)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
  });

  test('an OTLP request with an unexpected structure decodes to no data', () => {
    const shapes = [
      '{"resourceLogs":{}}',
      '{"resourceLogs":[1,null,{"scopeLogs":[{"logRecords":"x"}]}]}',
      '{"__proto__":[]}',
    ];
    for (const shape of shapes) expect(read('json', 'logs', Buffer.from(shape)).checks).toEqual([]);
    for (const shape of ['[]', 'null', '1'])
      expect(() => read('json', 'logs', Buffer.from(shape))).toThrow(expect.objectContaining({ code: 'invalid_body' }));
  });
});
