import { expect, test } from 'vitest';
import { comparisonReport } from '../../src/reports/experiments/comparison-report.ts';
import { UserUnions } from '../../src/storage/aggregate/unique-users.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketAt, horizonsAt, minutesPerDay, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { finish } from '../support/finish.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';

const environment = { name: 'Production', number: 7, createdAt: 0 };
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const retention = { minutesMs: 5 * hourMs, hoursMs: 3 * dayMs, daysMs: 90 * dayMs };
const today = Date.UTC(2026, 0, 31) / dayMs;
const now = today * dayMs + 15 * hourMs;

test('a comparison counts each check once, both before and after a roll-up', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store);
  const batch = new Batch();
  for (const [ordinal, variant] of ['on', 'off'].entries()) {
    batch.series.push({ environment: environment.number, ordinal, name: ['checkout', variant] });
    for (let day = today - 10; day < today; day += 1) {
      const minute = day * minutesPerDay + 615;
      const bucket = bucketAt(minute, horizonsAt(now, retention));
      batch.counts.add(seriesRef(environment.number, ordinal), bucket, 100 + day - today, 10, 0);
    }
  }
  aggregator.write(batch.seal());
  const task = { environment, feature: 'checkout', event: 'used', base: undefined, split: null } as const;
  const read = () => {
    const days = { from: today - 10, to: today };
    const { variants } = finish(comparisonReport(store, new UserUnions(store), { ...task, days }));
    return variants.map(({ variant, checks, events }) => ({ variant, checks, events }));
  };
  const counted = [
    { variant: 'on', checks: 945, events: 100 },
    { variant: 'off', checks: 945, events: 100 },
  ];
  expect(read()).toEqual(counted);
  const common = { environment: environment.number, now, horizons: horizonsAt(now, retention) };
  while (aggregator.maintain({ ...common, task: 'retention', exposureDays: 30, limit: 8 }) > 0);
  expect(read()).toEqual(counted);
});
