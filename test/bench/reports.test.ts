import { expect, test } from 'vitest';
import { encodeReport, stampReport } from '../../src/bench/load/reports.ts';
import { decodeUsageReport } from '../../src/ingest/formats/reports/proto.ts';

test('the reports that a benchmark sends differ only in their instance and time', () => {
  const { message, positions } = encodeReport('a-key', new Date('2026-02-03T04:05:06.789Z'));
  const stamp = (instance: number, number: number) => {
    stampReport(message, positions, instance, number);
    return decodeUsageReport(message);
  };
  const { time, instanceName, ...rest } = stamp(7, 0);
  expect([time, instanceName]).toEqual([Date.parse('2026-02-03T04:05:06Z'), 'web-0007']);
  expect(stamp(15, 1_234_567)).toEqual({
    ...rest,
    time: Date.parse('2026-02-03T04:05:07Z') + 234.567,
    instanceName: 'web-0015',
  });
});
