import { expect, test } from 'vitest';
import { createBuckets } from '../../src/console/components/chart/series.ts';
import { plannedShares, shareIn } from '../../src/console/pages/feature/traffic.ts';
import type { FeatureUsage } from '../../src/contract/shapes/reports.ts';

const berlin = (from: string, to: string) =>
  createBuckets({ from: Date.parse(from), to: Date.parse(to), step: 'day', zone: 'Europe/Berlin' });

test('the planned share of a day is the share that applies most of the day, even east of UTC', () => {
  const steps = [
    { at: '2026-11-13T00:00:00.000Z', split: { on: 10, off: 90 } },
    { at: '2026-11-15T00:00:00.000Z', split: { on: 50, off: 50 } },
  ];
  const buckets = berlin('2026-11-11T23:00:00Z', '2026-11-16T23:00:00Z');
  expect(plannedShares(steps, 'on', buckets)).toEqual([0, 10, 10, 50, 50]);
});

test('the actual share of a day is the share of its checks, even if clocks change on this day', () => {
  const buckets = berlin('2026-03-27T23:00:00Z', '2026-03-30T22:00:00Z');
  expect(buckets.starts).toHaveLength(3);
  const at = (index: number) => buckets.starts![index]!;
  const usage = {
    variants: [
      {
        variant: 'on',
        series: [
          [at(1), 1],
          [at(2), 3],
        ],
      },
      {
        variant: 'off',
        series: [
          [at(1), 9],
          [at(2), 1],
        ],
      },
    ],
  } as unknown as FeatureUsage;
  expect(shareIn(usage, 'on', buckets)).toEqual([0, 10, 75]);
});
