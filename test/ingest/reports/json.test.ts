import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeMetrics, decodeUsage } from '../../../src/ingest/formats/reports/json.ts';

const head = '"appKey":"key","environment":"Production","time":"2026-01-31T12:00:00.5+00:00"';
const time = Date.UTC(2026, 0, 31, 12) + 500;

test('the decoder reads the head of a JSON report', () => {
  const optional = '"instanceName":"web-1","processStartTime":"2026-01-31T11:00:00Z"';
  expect(decodeUsage(`{${head},${optional},"stats":[]}`)).toEqual({
    appKey: 'key',
    environment: 'Production',
    time,
    instanceName: 'web-1',
    processStartTime: Date.UTC(2026, 0, 31, 11),
    notes: new Map(),
    statCount: 0,
    variants: [],
    users: [],
    environmentHashes: [],
  });
});

test.each([
  ['empty', '""', undefined, []],
  ['null', 'null', undefined, []],
  ['a number', '7', '7', []],
  ['invalid', '"a\\nb"', undefined, ['name_dropped']],
  ['too long for a name', `"${'n'.repeat(257)}"`, undefined, ['name_dropped']],
])('the decoder reads or leaves out an instance name that is %s', (_, sent, instanceName, notes) => {
  const report = decodeUsage(`{${head},"stats":[],"instanceName":${sent}}`);
  expect(report).toMatchObject({ instanceName });
  expect([...report.notes.keys()]).toEqual(notes);
});

test('the name of an environment can be a number in a JSON report', () => {
  const report = decodeUsage('{"appKey":"key","environment":12,"time":"2026-01-31T12:00:00+0000","stats":[]}');
  expect(report).toMatchObject({ environment: '12', time: Date.UTC(2026, 0, 31, 12) });
});

test('hashes of users keep all their digits in every field of a report', () => {
  const report = decodeUsage(`{${head},"uniqueUserHashes":[18446744073709551616,-9007199254740993,5,"007",7],"stats":[
    {"feature":"a"},
    {"feature":"b","uniqueUserHashes":[9007199254740993,1],"uniqueViewedUserHashes":[9007199254740992,1]}]}`);
  expect(report.environmentHashes).toEqual(['18446744073709551616', '-9007199254740993', '5', '7']);
  expect(report.users).toEqual([{ feature: 'b', hashes: ['9007199254740993', '1', '9007199254740992'] }]);
});

test('hashes of users are exact integers of any size', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.bigInt({ min: -(10n ** 80n), max: 10n ** 80n })), (hashes) => {
      const report = decodeUsage(`{${head},"stats":[],"uniqueUserHashes":[${hashes.join(',')}]}`);
      expect(report.environmentHashes).toEqual(hashes.map(String));
    }),
  );
});

test('a large hash does not change the types of other values', () => {
  const large = '"uniqueUserHashes":[123456789012345678901]';
  const report = decodeUsage(`{${head},${large},"stats":[{"feature":"12345678901234567890","enabledCount":1}]}`);
  expect(report.variants).toMatchObject([{ feature: '12345678901234567890', variant: 'enabled', checks: 1 }]);
  expect(() => decodeUsage(`{${head},${large},"stats":12345678901234567890}`)).toThrow(/stats/);
});

test('an observation has its own time, and any other value has the time of the report', () => {
  const report = decodeMetrics(`{${head},"stats":[{"metric":"a","value":1}],"counters":[{"metric":"b","value":2}],
    "observations":[{"metric":"c","value":3,"time":"2026-01-31T11:59:00Z"},{"metric":"d","value":4}]}`);
  expect(report.statCount).toBe(1);
  expect(report.values.map((value) => [value.metric, value.value, value.time])).toEqual([
    ['a', 1, time],
    ['b', 2, time],
    ['c', 3, Date.UTC(2026, 0, 31, 11, 59)],
    ['d', 4, time],
  ]);
});

test('the decoder notes an entry without a value, even if other entries have values', () => {
  const notes = (entries: string) => [...decodeMetrics(`{${head},${entries}}`).notes.keys()];
  expect(notes('"stats":[{"metric":"a","value":0},{"metric":"b","enabledCount":0}]')).toEqual([]);
  expect(notes('"stats":[{"metric":"a","value":1},{"metric":"b"}]')).toEqual(['value_missing']);
  expect(notes('"observations":[{"metric":"a","feature":"f","variantValues":[]}]')).toEqual(['value_missing']);
});

test('a report without a list of entries is refused, because the name of the list could be misspelt', () => {
  expect(() => decodeUsage(`{${head},"stat":[]}`)).toThrow(/stats/);
  expect(() => decodeMetrics(`{${head},"counter":[]}`)).toThrow('at least one of stats, counters, observations');
});
