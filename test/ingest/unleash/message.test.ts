import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  packMessage,
  readMessage,
  type UnleashKind,
  type UnleashMessage,
  unpackChunk,
  withHeaders,
} from '../../../src/ingest/formats/unleash/message.ts';
import { eachAdded, opensFeature, rowKind } from '../../../src/storage/lmdb/cumulative.ts';

const read = (body: unknown, kind: UnleashKind = 'metrics') => readMessage(kind, body);
const start = '2026-01-31T11:59:00.000Z';
const stop = '2026-01-31T12:00:00.000Z';

/** Returns the counted checks of one flag, by variant. */
function readChecks(toggle: unknown): Record<string, number> {
  const { checks } = read({ bucket: { start, stop, toggles: { checkout: toggle } } }).usages[0]!;
  const counted = new Map<string, number>();
  const rows = checks.flatMap(({ kind, checks }, at) => [at, kind, checks]);
  const count = (at: number, sum: number) => {
    counted.set(checks[at]!.variant, sum);
  };
  eachAdded(rows, { count, measurement: () => expect.unreachable() });
  return Object.fromEntries(counted);
}

describe('flag of an Unleash bucket', () => {
  test.each<[string, unknown, Record<string, number>]>([
    ['the decoder counts yes and no of a flag', { yes: 12, no: 3, variants: {} }, { enabled: 12, disabled: 3 }],
    [
      'the decoder counts the variants of a flag, and the rest of yes as enabled',
      { yes: 12, no: 3, variants: { blue: 7, red: 1 } },
      { enabled: 4, disabled: 3, blue: 7, red: 1 },
    ],
    ['the decoder counts a fallback variant only once', { yes: 0, no: 5, variants: { fallback: 5 } }, { fallback: 5 }],
    [
      'the decoder subtracts variant checks in excess of yes from no',
      { yes: 3, no: 5, variants: { blue: 3, fallback: 4 } },
      { disabled: 1, blue: 3, fallback: 4 },
    ],
    ['the decoder accepts more variants than checks', { yes: 1, no: 1, variants: { fallback: 3 } }, { fallback: 3 }],
    [
      'the decoder ignores the variant named disabled of a flag without variants',
      { yes: 5, no: 2, variants: { disabled: 7 } },
      { enabled: 5, disabled: 2 },
    ],
    ['the decoder accepts a flag of an old SDK, without variants', { yes: 1, no: 0 }, { enabled: 1 }],
    ['the decoder accepts an empty list as variants, as PHP sends it', { yes: 1, no: 0, variants: [] }, { enabled: 1 }],
  ])('%s', (_, toggle, expected) => {
    expect(readChecks(toggle)).toEqual(expected);
  });

  test.each([-1, 0.5, 2_147_483_648, 1e300, '3', true, [1], {}])('drops the count %j and keeps other counts', (bad) => {
    const toggles = { bad: { yes: bad, no: 2 }, good: { yes: 1 } };
    const { usages, notes } = read({ bucket: { start, stop, toggles } });
    expect(usages[0]!.checks).toEqual([
      { feature: 'bad', variant: 'disabled', checks: 2, kind: rowKind.no + opensFeature },
      { feature: 'good', variant: 'enabled', checks: 1, kind: rowKind.yes + opensFeature },
    ]);
    expect([...notes]).toEqual([['value_dropped', 'bucket.toggles.bad.yes']]);
  });
});

test.each<[string, object, number | undefined, readonly [code: string, path: string][]]>([
  ['its stop time', { start, stop }, Date.parse(stop!), []],
  ['its start time if it lacks a stop time', { start, stop: null }, Date.parse(start!), []],
  [
    'its arrival if it stops before it starts',
    { start: stop, stop: start },
    undefined,
    [['time_moved', 'bucket.stop']],
  ],
  [
    'its start time if its stop time is invalid',
    { start, stop: 'soon' },
    Date.parse(start!),
    [['value_dropped', 'bucket.stop']],
  ],
  [
    'its stop time in UTC if the time lacks a zone',
    { start, stop: '2026-01-31T12:00:00' },
    Date.parse(stop!),
    [['time_zone_missing', 'bucket.stop']],
  ],
])('a bucket is counted at %s', (_, times, at, expected) => {
  const { usages, notes } = read({ bucket: { ...times, toggles: {} } });
  expect([usages[0]!.at, [...notes]]).toEqual([at, expected]);
});

test.each(['soon', 7, true, []])('a bucket that is %j is omitted and noted', (bucket) => {
  const { usages, notes } = read({ bucket });
  expect([usages, [...notes]]).toEqual([[], [['value_dropped', 'bucket']]]);
});

test('the sender of a message is read from its body, or else from its headers', () => {
  const body = {
    appName: 'billing',
    instanceId: 'i-1',
    connectionId: 'c-1',
    platformName: 'node',
    platformVersion: '22.1.0',
  };
  const headers = {
    appName: 'other',
    connection: 'c-2',
    instance: 'i-2',
    sdk: 'unleash-client-node:6.12.1',
    interval: 60_000,
  };
  const sdk = 'unleash-client-node 6.12.1';
  expect(withHeaders(read({ ...body, bucket: null }), headers)).toMatchObject({
    appName: 'billing',
    instance: 'i-1',
    connection: 'c-1',
    platform: 'node 22.1.0',
    sdk,
    start: undefined,
    usages: [],
  });
  expect(withHeaders(read({}, 'register'), headers)).toMatchObject({
    appName: 'other',
    connection: 'c-2',
    instance: 'i-2',
    sdk,
  });
});

test('entries of Unleash Edge keep their service, environment and time', () => {
  const entry = {
    featureName: 'checkout',
    appName: 'billing',
    environment: 'production',
    timestamp: start,
    yes: 2,
    no: 1,
  };
  const { usages, notes } = read({ applications: [], metrics: [entry, { yes: 1 }, 7] }, 'bulk');
  expect(usages).toEqual([
    {
      appName: 'billing',
      environment: 'production',
      at: Date.parse(start!),
      path: ['metrics', 0],
      checks: [
        { feature: 'checkout', variant: 'enabled', checks: 2, kind: rowKind.yes + opensFeature },
        { feature: 'checkout', variant: 'disabled', checks: 1, kind: rowKind.no },
      ],
    },
  ]);
  expect([...notes]).toEqual([['name_dropped', 'metrics[1]']]);
});

test('impact metrics are read as counters and gauges, and a histogram is read as two counters: count and sum', () => {
  const metric = (name: string, type: string, ...samples: unknown[]) => ({ name, help: '', type, samples });
  const { counters, gauges, notes } = read({
    bucket: null,
    impactMetrics: [
      metric('sales', 'counter', { labels: { country: 'no' }, value: 2 }, { labels: {}, value: 'x' }, { value: 3 }),
      metric('load', 'gauge', { value: 0.5 }),
      metric('latency', 'histogram', { count: 4, sum: 1.5, buckets: [{ le: '+Inf', count: 4 }] }),
    ],
  });
  expect(counters).toEqual([
    ['sales', 2],
    ['sales', 3],
    ['latency_count', 4],
    ['latency_sum', 1.5],
  ]);
  expect(gauges).toEqual([['load', 0.5]]);
  expect([...notes]).toEqual([
    ['value_dropped', 'impactMetrics[0].samples[1].value'],
    ['histogram_reduced', 'impactMetrics[2]'],
  ]);
});

test.each([null, [], 7, 'text'])('a message with the body %j is refused', (body) => {
  expect(() => read(body)).toThrow('The body must be an object');
});

const count = fc.integer({ min: 0, max: 1000 });
const toggle = fc.record({ yes: count, no: count, variants: fc.dictionary(fc.string(), count) });
const kinds = fc.constantFrom<UnleashKind>('metrics', 'bulk', 'register');

test('the checks of a flag are the sum of yes and no, or of its variants if that sum is larger', () => {
  fc.assert(
    fc.property(toggle, (sent) => {
      const checks = Object.values(readChecks(sent)).reduce((sum, each) => sum + each, 0);
      const served = Object.entries(sent.variants).reduce(
        (sum, [name, each]) => sum + (name === 'disabled' ? 0 : each),
        0,
      );
      expect(checks).toBe(Math.max(sent.yes + sent.no, served));
    }),
  );
});

test('any JSON object is accepted as a message, and decodes to positive counts and finite values', () => {
  const parts = fc.record(
    {
      bucket: fc.oneof(
        fc.jsonValue(),
        fc.record({ start: fc.jsonValue(), stop: fc.jsonValue(), toggles: fc.jsonValue() }),
      ),
      metrics: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
      impactMetrics: fc.oneof(fc.jsonValue(), fc.array(fc.record({ name: fc.jsonValue(), samples: fc.jsonValue() }))),
      appName: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(parts, kinds, (body, kind) => {
      const { usages, counters, gauges } = read(body, kind);
      for (const { checks } of usages.flatMap((usage) => usage.checks)) expect(checks).toBeGreaterThan(0);
      for (const [, value] of [...counters, ...gauges]) expect(Number.isFinite(value)).toBe(true);
    }),
  );
});

test('names of built-in object properties are ordinary flag names', () => {
  const toggles = JSON.parse('{"__proto__":{"yes":1},"constructor":{"yes":2}}');
  expect(read({ bucket: { start, stop, toggles } }).usages[0]!.checks.map(({ feature }) => feature)).toEqual([
    '__proto__',
    'constructor',
  ]);
});

const head = {
  appName: 'billing',
  instance: undefined,
  connection: 'c-1',
  sdk: 'node 1',
  platform: undefined,
  start: undefined,
  stop: undefined,
  interval: undefined,
  notes: new Map<never, never>(),
};
const check = (n: number) => ({ feature: `flag-${n}`, variant: 'on', checks: n, kind: rowKind.variant });
const list = <T>(length: number, create: (n: number) => T) => Array.from({ length }, (_, n) => create(n));

test('the chunks of a packed message are short, and together hold its whole content in order', () => {
  const lengths = fc.array(fc.nat(2500), { maxLength: 5 });
  fc.assert(
    fc.property(lengths, fc.nat(2500), fc.nat(2500), (usages, counters, gauges) => {
      const message: UnleashMessage = {
        ...head,
        usages: usages.map((length, n) => ({
          appName: `app-${n}`,
          environment: undefined,
          at: n,
          path: ['metrics', n],
          checks: list(length, check),
        })),
        counters: list(counters, (n) => [`counter-${n}`, n]),
        gauges: list(gauges, (n) => [`gauge-${n}`, -1 - n]),
      };
      const { chunks, entries, ...rest } = packMessage(message);
      expect(rest).toEqual({ head });
      const contents = chunks.map(unpackChunk);
      const checks = message.usages.flatMap(({ at, checks }) => checks.map((each) => [at, each]));
      expect(contents.flatMap((each) => each.counters)).toEqual(message.counters);
      expect(contents.flatMap((each) => each.gauges)).toEqual(message.gauges);
      expect(
        contents.flatMap((each) => each.usages.flatMap(({ at, checks }) => checks.map((one) => [at, one]))),
      ).toEqual(checks);
      expect(new Set(contents.flatMap((each) => each.usages.map(({ at }) => at))).size).toBe(usages.length);
      expect(entries).toBe(checks.length + usages.length + counters + gauges);
      for (const each of contents) {
        const sizes = each.usages.map((usage) => usage.checks.length);
        expect(Math.max(0, ...sizes, each.counters.length, each.gauges.length)).toBeLessThanOrEqual(1000);
      }
    }),
    { numRuns: 30 },
  );
});
