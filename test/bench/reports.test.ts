import { expect, test } from 'vitest';
import { mark, reportOf } from '../../src/bench/load/reports.ts';
import { decodeUsageReport } from '../../src/ingest/formats/reports/proto.ts';

test('reports of the benchmark differ only in their instance and time', () => {
  const { message, marks } = reportOf('a-key', new Date('2026-02-03T04:05:06.789Z'));
  const marked = (instance: number, number: number) => {
    mark(message, marks, instance, number);
    return decodeUsageReport(message);
  };
  const { time, instanceName, ...rest } = marked(7, 0);
  expect([time, instanceName]).toEqual([Date.parse('2026-02-03T04:05:06Z'), 'web-0007']);
  expect(marked(15, 1_234_567)).toEqual({
    ...rest,
    time: Date.parse('2026-02-03T04:05:07Z') + 234.567,
    instanceName: 'web-0015',
  });
});
