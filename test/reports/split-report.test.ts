import { expect, test } from 'vitest';
import { defaultSettings } from '../../src/accounts/feature-settings.ts';
import { SplitCache } from '../../src/reports/experiments/split-report.ts';
import { UserUnions } from '../../src/storage/aggregate/unique-users.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketAt, horizonsAt, minutesPerDay, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import type { FeatureDeclaration } from '../../src/storage/lmdb/records.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { finish } from '../support/finish.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const retention = { minutesMs: 5 * hourMs, hoursMs: 30 * dayMs, daysMs: 90 * dayMs };
const today = Date.UTC(2026, 10, 15) / dayMs;
const now = today * dayMs + 15 * hourMs;
const environment = 7;

const variants = ['on', 'off'] as const;

/** Creates a store with ten days of a flag. 10 % of the users have `on`, but 34 % in the last three days. */
function openStore() {
  const store = openUsageTables(temporaryDirectory());
  const aggregator = createAggregator(store);
  for (let day = today - 10; day <= today; day += 1) {
    const batch = new Batch();
    const minute = day * minutesPerDay + 615;
    const bucket = bucketAt(minute, horizonsAt(now, retention));
    const on = day > today - 3 ? 340 : 100;
    for (const [ordinal, variant] of variants.entries()) {
      if (day === today - 10) batch.series.push({ environment, ordinal, name: ['checkout', variant] });
      const [from, to] = variant === 'on' ? [0, on] : [on, 1000];
      batch.counts.add(seriesRef(environment, ordinal), bucket, (to - from) * 5, 0, 0);
      for (let user = from; user < to; user += 1)
        batch.users.add(seriesRef(environment, ordinal), minute, (user * 2_654_435_761) >>> 0, (user * 40_503) >>> 0);
    }
    aggregator.write(batch.seal());
  }
  return store;
}

const declared = (settings: Partial<FeatureDeclaration>): FeatureDeclaration => ({
  applicationId: 'app',
  name: 'checkout',
  number: 1,
  createdAt: 0,
  updatedAt: 0,
  ...defaultSettings,
  ...settings,
});

test('the actual split of a flag covers the days since the current step of the rollout plan', async () => {
  const store = openStore();
  const splits = (settings: Partial<FeatureDeclaration>) =>
    finish(new SplitCache(store, new UserUnions(store)).of({ environment, declared: [declared(settings)], now })).get(
      'checkout',
    );
  const step = (daysAgo: number, on: number) => ({
    at: (today - daysAgo) * dayMs,
    split: [['on', on] as const, ['off', 100 - on] as const],
  });
  const plan = [step(9, 10), step(2, 50), step(-5, 90)];
  const behind = splits({ rollout: plan })!;
  expect(behind).toMatchObject({ state: 'off', of: 'users', intended: { on: 0.5, off: 0.5 } });
  expect(behind.actual!['on']).toBeCloseTo(0.34, 1);
  expect(behind.text).toMatch(/^behind plan: on had 3\d% of the users on average since 13 Nov, instead of 50%$/);
  expect(splits({ rollout: [step(2, 34)] })).toMatchObject({ state: 'ok', text: null });
  expect(splits({ rollout: [step(-1, 50)] })).toBeUndefined();
  // After a step this morning, only whole hours can be measured, so checks are compared instead of users.
  const atNoon = { at: today * dayMs + 9 * hourMs, split: [['on', 1] as const] };
  expect(splits({ rollout: [atNoon] })).toMatchObject({
    state: 'off',
    of: 'checks',
    text: 'behind plan: on had 34% of the checks on average since 15 Nov, instead of 100%',
  });
  await store.lmdb.close();
});
