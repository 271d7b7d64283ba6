import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeMetrics } from '../../src/ingest/report-json-metrics.ts';
import { decodeUsage } from '../../src/ingest/report-json-usage.ts';

const head = '"appKey":"key","environment":"Production","time":"2026-01-31T12:00:00.5+00:00"';
const time = Date.UTC(2026, 0, 31, 12) + 500;

test('the head of a report is read', () => {
  const optional = '"instanceName":"web-1","processStartTime":"2026-01-31T11:00:00Z"';
  expect(decodeUsage(`{${head},${optional}}`)).toEqual({
    appKey: 'key',
    environment: 'Production',
    time,
    instanceName: 'web-1',
    processStartTime: Date.UTC(2026, 0, 31, 11),
    statCount: 0,
    variants: [],
    users: [],
    environmentHashes: [],
  });
});

test('an empty instance name is none', () => {
  expect(decodeUsage(`{${head},"instanceName":""}`).instanceName).toBeUndefined();
});

test('hashes keep all their digits, wherever they are', () => {
  const report =
    decodeUsage(`{${head},"uniqueUserHashes":[18446744073709551616,-9007199254740993,5,"007"],"stats":[
    {"feature":"a"},
    {"feature":"b","uniqueUserHashes":[9007199254740993,1],"uniqueViewedUserHashes":[9007199254740992,1]}]}`);
  expect(report.environmentHashes).toEqual(['18446744073709551616', '-9007199254740993', '5', '7']);
  expect(report.users).toEqual([{ feature: 'b', hashes: ['9007199254740993', '1', '9007199254740992'] }]);
});

test('hashes are the integers that were written, whatever their size', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -(10n ** 80n), max: 10n ** 80n })), (hashes) => {
      const report = decodeUsage(`{${head},"uniqueUserHashes":[${hashes.join(',')}]}`);
      expect(report.environmentHashes).toEqual(hashes.map(String));
    }),
  );
});

test('a large hash changes nothing else: a number stays a number, a string a string', () => {
  const large = '"uniqueUserHashes":[123456789012345678901]';
  const report = decodeUsage(
    `{${head},${large},"stats":[{"feature":"12345678901234567890","enabledCount":1}]}`,
  );
  expect(report.variants).toMatchObject([{ feature: '12345678901234567890', variant: 'enabled', checks: 1 }]);
  expect(() => decodeUsage(`{${head},${large},"instanceName":12345678901234567890}`)).toThrow(/instanceName/);
});

test('an observation has its own time, everything else the time of the report', () => {
  const report =
    decodeMetrics(`{${head},"stats":[{"metric":"a","value":1}],"counters":[{"metric":"b","value":2}],
    "observations":[{"metric":"c","value":3,"time":"2026-01-31T11:59:00Z"},{"metric":"d","value":4}]}`);
  expect(report.statCount).toBe(1);
  expect(report.values.map((value) => [value.metric, value.value, value.time])).toEqual([
    ['a', 1, time],
    ['b', 2, time],
    ['c', 3, Date.UTC(2026, 0, 31, 11, 59)],
    ['d', 4, time],
  ]);
});

test('what there is too much of is named with its limit', () => {
  const stats = (count: number) => Array(count).fill('{"feature":"a","metric":"a"}').join(',');
  const hashes = `"uniqueUserHashes":[${Array(10_001).fill(1).join(',')}]`;
  const variants = Array.from({ length: 65 }, (_, index) => `"v${index}":{}`).join(',');
  const variantStats = `"stats":[{"feature":"a","variantStats":{${variants}}}]`;
  const usage = (body: string) => () => decodeUsage(`{${head},${body}}`);
  expect(usage(`"stats":[${stats(2001)}]`)).toThrow('A report may carry 2000 features at most');
  expect(usage(hashes)).toThrow('A report may carry 10000 user hashes at most');
  expect(usage(variantStats)).toThrow('A feature or metric of a report may carry 64 variants at most');
  const metrics = `{${head},"counters":[${stats(2001)}]}`;
  expect(() => decodeMetrics(metrics)).toThrow('A report may carry 2000 metrics at most');
});

test('a wrong value is named by where it is, and nothing of the body is repeated', () => {
  const body = `{${head},"stats":[{"feature":"a"},{"feature":"b","variantStats":{"on":{"checkCount":-1}}}]}`;
  expect(() => decodeUsage(body)).toThrow('The value at /stats/1/variantStats/on/checkCount must be >= 0');
  expect(() => decodeUsage(`{${head},"uniqueUserHashes":["jane@example.com"]}`)).not.toThrow(/jane/);
});
