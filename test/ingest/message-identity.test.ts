import { describe, expect, test } from 'vitest';
import { identityOfKey, identityOfMetrics, identityOfUsage } from '../../src/ingest/message-identity.ts';
import { decodeMetrics } from '../../src/ingest/report-json-metrics.ts';
import { decodeUsage } from '../../src/ingest/report-json-usage.ts';

const scope = { application: 1, environment: 2 };
const hex = (identity: Uint8Array) => Buffer.from(identity).toString('hex');
const usage = (json: string, where = scope) => hex(identityOfUsage(where, decodeUsage(json)));
const metrics = (json: string, where = scope) => hex(identityOfMetrics(where, decodeMetrics(json)));

const head = '"appKey":"k","environment":"e","time":"2026-01-31T12:00:00Z"';
const stat =
  '{"feature":"a","variantStats":{"on":{"checkCount":1},"off":{"usedCount":2}},"uniqueUserHashes":[1,2]}';
const full = `{${head},"instanceName":"i","processStartTime":"2026-01-01T00:00:00Z","stats":[${stat},{"feature":"b"}],"uniqueUserHashes":[3,4]}`;

describe('of a usage report', () => {
  test('is 128 bits that never change: they are on disk', () => {
    expect(usage(full)).toMatchInlineSnapshot(`"1c805ce3f4e4c44649b3d384b4b29c08"`);
    expect(metrics(`{${head},"stats":[{"metric":"m","value":1.5}]}`)).toMatchInlineSnapshot(
      `"13e5e05200e8e7e05e926cf598d63360"`,
    );
    expect(hex(identityOfKey('telemetry', scope, 'key'))).toMatchInlineSnapshot(
      `"a7d0861f8ce84fb8634e3b59ba15faa5"`,
    );
  });

  test.each([
    ['other spellings of the times', full.replaceAll('00:00Z', '00:00.000+00:00')],
    [
      'another order of fields',
      `{"uniqueUserHashes":[4,3],"stats":[{"feature":"b"},{"uniqueUserHashes":[2,1],"variantStats":{"off":{"usedCount":2},"on":{"checkCount":1}},"feature":"a"}],"processStartTime":"2026-01-01T00:00:00Z","instanceName":"i",${head}}`,
    ],
    ['zeros written out', full.replace('"checkCount":1', '"checkCount":1,"usedCount":0,"viewedCount":null')],
    ['hashes as strings', full.replace('[3,4]', '["3",4.0]')],
    ['fields that nobody knows', full.replace('{', '{"x":1,')],
    ['another key of the same application', full.replace('"k"', '"other"')],
  ])('is the same with %s', (_, json) => {
    expect(usage(json)).toBe(usage(full));
  });

  test.each([
    ['time', full.replace('12:00:00Z', '12:00:00.000001Z')],
    ['instance', full.replace('"i"', '"j"')],
    ['no instance', full.replace('"instanceName":"i",', '')],
    ['process start', full.replace('2026-01-01', '2026-01-02')],
    ['no process start', full.replace('"processStartTime":"2026-01-01T00:00:00Z",', '')],
    ['count', full.replace('"checkCount":1', '"checkCount":2')],
    ['variant', full.replace('"on"', '"in"')],
    ['feature', full.replace('"a"', '"c"')],
    ['number of entries', full.replace('{"feature":"b"}', '{"feature":"b"},{"feature":"b"}')],
    ['hash of a user', full.replace('[1,2]', '[1,5]')],
    ['hash of the environment', full.replace('[3,4]', '[3]')],
    ['hash in another place', full.replace('[1,2]', '[1,2,3]').replace('[3,4]', '[4]')],
  ])('differs with another %s', (_, json) => {
    expect(usage(json)).not.toBe(usage(full));
  });

  test('differs between applications, environments and kinds of report', () => {
    const empty = `{${head}}`;
    const all = [
      usage(empty),
      metrics(empty),
      usage(empty, { application: 2, environment: 2 }),
      usage(empty, { application: 1, environment: 3 }),
      usage(empty, { application: 12, environment: 2 }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

test('a key names a message of one route of one environment', () => {
  const all = [
    identityOfKey('usage', scope, 'a'),
    identityOfKey('usage', scope, 'b'),
    identityOfKey('metrics', scope, 'a'),
    identityOfKey('usage', { application: 1, environment: 3 }, 'a'),
    identityOfKey('usage', { application: 2, environment: 2 }, 'a'),
  ].map(hex);
  expect(new Set(all).size).toBe(all.length);
  expect(hex(identityOfKey('usage', scope, 'a'))).toBe(all[0]);
});

test('of a metrics report differs with a value, a series and the time of an observation', () => {
  const of = (entry: string) => metrics(`{${head},"observations":[{${entry}}]}`);
  const all = [
    of('"metric":"m","value":1'),
    of('"metric":"m","value":2'),
    of('"metric":"n","value":1'),
    of('"metric":"m","value":1,"feature":"f"'),
    of('"metric":"m","feature":"f","variantValues":{"on":1}'),
    of('"metric":"m","value":1,"time":"2026-01-31T12:00:00.001Z"'),
    metrics(`{${head},"stats":[{"metric":"m","value":1}]}`),
  ];
  expect(new Set(all).size).toBe(all.length);
});
