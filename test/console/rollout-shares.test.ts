import { describe, expect, test } from 'vitest';
import { createBuckets } from '../../src/console/components/chart/series.ts';
import { formatPlan, plannedShares, shareIn } from '../../src/console/pages/feature/traffic.ts';
import type { FeatureUsage } from '../../src/contract/shapes/reports.ts';

const berlin = (from: string, to: string) =>
  createBuckets({ from: Date.parse(from), to: Date.parse(to), step: 'day', zone: 'Europe/Berlin' });

test('the planned share of a day is the share in effect for most of the day, even east of UTC', () => {
  const steps = [
    { at: '2026-11-13T00:00:00.000Z', split: { on: 10, off: 90 } },
    { at: '2026-11-15T00:00:00.000Z', split: { on: 50, off: 50 } },
  ];
  const buckets = berlin('2026-11-11T23:00:00Z', '2026-11-16T23:00:00Z');
  expect(plannedShares(steps, 'on', buckets)).toEqual([0, 10, 10, 50, 50]);
});

test('the actual share of a day is computed from the checks of that day, even if clocks change on it', () => {
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

describe('the plan of a flag', () => {
  const words = { time: (at: string) => at.slice(0, 10), percent: (share: number) => `${share * 100}%` };
  const rollout = [
    { at: '2026-11-13T00:00:00.000Z', split: { on: 10, off: 90 } },
    { at: '2026-11-15T00:00:00.000Z', split: { on: 50, off: 50 } },
  ];

  test.each([
    ['2026-11-12', 'rollout of on to 0%, then 10% from 2026-11-13'],
    ['2026-11-14', 'rollout of on to 10%, then 50% from 2026-11-15'],
    ['2026-11-16', 'rollout of on to 50%, the last step'],
  ])('the plan of a rollout on %s is "%s"', (day, text) => {
    expect(formatPlan({ rollout, split: { on: 1 } }, Date.parse(day), words)).toBe(text);
  });

  test('the plan of a flag without a rollout is the split of the flag, if the flag has a split', () => {
    expect(formatPlan({ rollout: null, split: { on: 1, off: 3 } }, 0, words)).toBe('split on 25%, off 75%');
    expect(formatPlan({ rollout: null, split: null }, 0, words)).toBeUndefined();
  });
});
