import { describe, expect, test } from 'vitest';
import type { KeyHolder } from '../../../src/accounts/key-index.ts';
import { identityOfKey, type MessageIdentity, type MessageSender } from '../../../src/ingest/count-once.ts';
import { identityOfReport, isDistinct } from '../../../src/ingest/formats/reports/content-identity.ts';
import { decodeMetrics, decodeUsage } from '../../../src/ingest/formats/reports/json.ts';

/** Creates a sender from the numbers of its application, key and environment. */
function createSender(application: number, key: number, environment: number): MessageSender {
  const holder = { application: { number: application }, key: { number: key } } as KeyHolder;
  return { holder, environment: { number: environment } };
}

const sender = createSender(7, 5, 2);
const hex = (identity: MessageIdentity) => identity.map((word) => word.toString(16).padStart(8, '0')).join('-');
const usage = (json: string, by = sender) => hex(identityOfReport(by, decodeUsage(json)));
const metrics = (json: string, by = sender) => hex(identityOfReport(by, decodeMetrics(json)));

const head = '"appKey":"k","environment":"e","time":"2026-01-31T12:00:00.125Z"';
const started = '"processStartTime":"2026-01-01T00:00:00Z"';
const stat = '{"feature":"a","variantStats":{"on":{"checkCount":1},"off":{"usedCount":2}},"uniqueUserHashes":[1,2]}';
const full = `{${head},"instanceName":"i","processStartTime":"2026-01-01T00:00:00Z","stats":[${stat},{"feature":"b"}],"uniqueUserHashes":[3,4]}`;

describe('identityOfReport', () => {
  test('the identity of a report never changes between versions, because it is stored', () => {
    expect(usage(full)).toMatchInlineSnapshot(`"00000007-00000005-515e32c1-6802413f"`);
    expect(metrics(`{${head},${started},"stats":[{"metric":"m","value":1.5}]}`)).toMatchInlineSnapshot(
      `"00000007-00000005-b15a1d70-58b5f7a2"`,
    );
    expect(hex(identityOfKey('telemetry', sender, 'key'))).toMatchInlineSnapshot(
      `"00000007-00000005-76c73b4d-b12d0cdf"`,
    );
  });

  test.each([
    ['other spellings of the times', full.replaceAll('00:00Z', '00:00.000+00:00').replace('.125Z', '.125000+00:00')],
    [
      'another order of fields',
      `{"uniqueUserHashes":[4,3],"stats":[{"feature":"b"},{"uniqueUserHashes":[2,1],"variantStats":{"off":{"usedCount":2},"on":{"checkCount":1}},"feature":"a"}],"processStartTime":"2026-01-01T00:00:00Z","instanceName":"i",${head}}`,
    ],
    ['zeros written out', full.replace('"checkCount":1', '"checkCount":1,"usedCount":0,"viewedCount":null')],
    ['hashes as strings', full.replace('[3,4]', '["3",4.0]')],
    ['unknown fields', full.replace('{', '{"x":1,')],
  ])('a report with %s has the same identity', (_, json) => {
    expect(usage(json)).toBe(usage(full));
  });

  test.each([
    ['time', full.replace('12:00:00.125Z', '12:00:00.125001Z')],
    ['instance', full.replace('"i"', '"j"')],
    ['presence of an instance', full.replace('"instanceName":"i",', '')],
    ['process start', full.replace('2026-01-01', '2026-01-02')],
    ['count', full.replace('"checkCount":1', '"checkCount":2')],
    ['variant', full.replace('"on"', '"in"')],
    ['feature', full.replace('"a"', '"c"')],
    ['number of entries', full.replace('{"feature":"b"}', '{"feature":"b"},{"feature":"b"}')],
    ['hash of a user', full.replace('[1,2]', '[1,5]')],
    ['hash of the environment', full.replace('[3,4]', '[3]')],
    ['place of a hash', full.replace('[1,2]', '[1,2,3]').replace('[3,4]', '[4]')],
  ])('a report that differs in the %s has another identity', (_, json) => {
    expect(usage(json)).not.toBe(usage(full));
  });

  test('reports of different environments, keys and kinds have different identities', () => {
    const empty = `{${head},${started},"stats":[]}`;
    const others = [sender, createSender(7, 5, 3), createSender(7, 6, 2), createSender(8, 5, 2)];
    const all = others.flatMap((by) => [usage(empty, by), metrics(empty, by)]);
    expect(new Set(all).size).toBe(all.length);
  });

  test.each([
    ['12:00:00Z', false],
    ['12:00:00.125Z', false],
    ['12:00:00.125000000Z', false],
    ['12:00:00.1250001Z', true],
    ['12:00:00.125001Z', true],
    ['12:00:00.000100Z', true],
  ])('a report with the time %s is distinct from equal reports: %s', (time, told) => {
    const json = `{"appKey":"k","environment":"e","time":"2026-01-31T${time}","stats":[]}`;
    expect([decodeUsage(json), decodeMetrics(json)].map(isDistinct)).toEqual([told, told]);
  });

  test('the identity of a report changes if the start time of its process is missing', () => {
    expect(usage(full.replace('"processStartTime":"2026-01-01T00:00:00Z",', ''))).not.toBe(usage(full));
  });
});

test('an Idempotency-Key identifies a message of one route, environment and application key', () => {
  const all = [
    identityOfKey('usage', sender, 'a'),
    identityOfKey('usage', sender, 'b'),
    identityOfKey('metrics', sender, 'a'),
    identityOfKey('usage', createSender(7, 5, 3), 'a'),
    identityOfKey('usage', createSender(7, 6, 2), 'a'),
    identityOfKey('usage', createSender(8, 5, 2), 'a'),
  ].map(hex);
  expect(new Set(all).size).toBe(all.length);
  expect(hex(identityOfKey('usage', sender, 'a'))).toBe(all[0]);
});

test('equal reports of different applications or keys have different identities', () => {
  const empty = `{${head},${started},"stats":[]}`;
  for (const [application, key] of [
    [1, 2],
    [0xffffffff, 0xfffffffe],
  ] as const) {
    const by = createSender(application, key, 2);
    const all = [
      identityOfReport(by, decodeUsage(empty)),
      identityOfReport(by, decodeMetrics(empty)),
      identityOfKey('usage', by, 'a'),
    ];
    for (const each of all) expect(each.slice(0, 2)).toEqual([application, key]);
  }
});

test('a metrics report with another value, series or time of an observation has another identity', () => {
  const of = (entry: string) => metrics(`{${head},${started},"observations":[{${entry}}]}`);
  const all = [
    of('"metric":"m","value":1'),
    of('"metric":"m","value":2'),
    of('"metric":"n","value":1'),
    of('"metric":"m","value":1,"feature":"f"'),
    of('"metric":"m","feature":"f","variantValues":{"on":1}'),
    of('"metric":"m","value":1,"time":"2026-01-31T12:00:00.001Z"'),
    metrics(`{${head},${started},"stats":[{"metric":"m","value":1}]}`),
  ];
  expect(new Set(all).size).toBe(all.length);
});
