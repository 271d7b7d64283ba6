import { describe, expect, test } from 'vitest';
import {
  identityOfKey,
  identityOfMetrics,
  identityOfUsage,
  type MessageIdentity,
} from '../../src/ingest/message-identity.ts';
import { decodeMetrics } from '../../src/ingest/report-json-metrics.ts';
import { decodeUsage } from '../../src/ingest/report-json-usage.ts';

const environment = 2;
const hex = (identity: MessageIdentity) =>
  identity.map((word) => word.toString(16).padStart(8, '0')).join('-');
const usage = (json: string, where = environment) => hex(identityOfUsage(where, decodeUsage(json)));
const metrics = (json: string, where = environment) => hex(identityOfMetrics(where, decodeMetrics(json)));

const head = '"appKey":"k","environment":"e","time":"2026-01-31T12:00:00Z"';
const stat =
  '{"feature":"a","variantStats":{"on":{"checkCount":1},"off":{"usedCount":2}},"uniqueUserHashes":[1,2]}';
const full = `{${head},"instanceName":"i","processStartTime":"2026-01-01T00:00:00Z","stats":[${stat},{"feature":"b"}],"uniqueUserHashes":[3,4]}`;

describe('of a usage report', () => {
  test('is 128 bits that never change: they are on disk', () => {
    expect(usage(full)).toMatchInlineSnapshot(`"00000002-45ef0de6-ea659ac6-3fe28736"`);
    expect(metrics(`{${head},"stats":[{"metric":"m","value":1.5}]}`)).toMatchInlineSnapshot(
      `"00000002-0c8d1e6d-b9f47dba-56cf8605"`,
    );
    expect(hex(identityOfKey('telemetry', environment, 'key'))).toMatchInlineSnapshot(
      `"00000002-751ff818-2b7a70a8-19f0b9c7"`,
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

  test('differs between environments and kinds of report', () => {
    const empty = `{${head}}`;
    const all = [usage(empty), metrics(empty), usage(empty, 3), metrics(empty, 3)];
    expect(new Set(all).size).toBe(all.length);
  });
});

test('a key names a message of one route of one environment', () => {
  const all = [
    identityOfKey('usage', environment, 'a'),
    identityOfKey('usage', environment, 'b'),
    identityOfKey('metrics', environment, 'a'),
    identityOfKey('usage', 3, 'a'),
  ].map(hex);
  expect(new Set(all).size).toBe(all.length);
  expect(hex(identityOfKey('usage', environment, 'a'))).toBe(all[0]);
});

test('nothing in one environment can pass for a message of another', () => {
  const empty = `{${head}}`;
  for (const where of [1, 0xffffffff]) {
    expect(identityOfUsage(where, decodeUsage(empty))[0]).toBe(where);
    expect(identityOfMetrics(where, decodeMetrics(empty))[0]).toBe(where);
    expect(identityOfKey('usage', where, 'a')[0]).toBe(where);
  }
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
