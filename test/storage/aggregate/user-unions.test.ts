import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countUniqueUsers, type UniqueUsers, UserUnions } from '../../../src/storage/aggregate/unique-users.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { daysOver, readRollUpState } from '../../../src/storage/lmdb/roll-up-state.ts';
import { environmentOrdinal } from '../../../src/storage/lmdb/sketches.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { hashUser } from './sketch-fixture.ts';

const environment = 5;
const firstDay = 20_000;

interface SeenUsers {
  readonly day: number;
  readonly ordinal: number;
  readonly user: number;
  /** False for a report that requests users only. */
  readonly isCounted: boolean;
}

type Step = { readonly seen: SeenUsers } | { readonly dayOver: true } | { readonly ask: readonly [number, number] };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      seen: fc.record({
        day: fc.nat({ max: 4 }),
        ordinal: fc.nat({ max: 2 }),
        user: fc.nat({ max: 900 }),
        isCounted: fc.boolean(),
      }),
    }),
    fc.constant({ dayOver: true } as const),
    fc.record({ ask: fc.constantFrom([0, 5] as const, [0, 2] as const, [1, 4] as const) }),
  ),
  { minLength: 5, maxLength: 40 },
);

function writer(store: UsageTables) {
  const { write, maintain } = createAggregator(store);
  let today = 0;
  return {
    add({ day, ordinal, user, isCounted }: SeenUsers): void {
      const batch = new Batch();
      const minute = (firstDay + Math.min(day, today)) * 1440 + 600;
      const ref = seriesRef(environment, ordinal);
      const { high, low } = hashUser(user);
      batch.series.push({ environment, ordinal, name: ['checkout', `variant-${ordinal}`] });
      if (isCounted) batch.counts.add(ref, encodeBucket(bucketWidth.minute, minute), 1, 0, 0);
      batch.users.add(ref, minute, high, low);
      batch.users.add(seriesRef(environment, environmentOrdinal), minute, high, low);
      write(batch.seal());
    },
    endDay(): void {
      today += 1;
      const now = (firstDay + today) * 86_400_000 + 3_600_000;
      const horizons = { minutes: 0, hours: 0, days: 0 };
      while (maintain({ task: 'retention', environment, horizons, now, exposureDays: 30, limit: 100 }) > 0);
    },
  };
}

function count(unions: UserUnions, [from, to]: readonly [number, number]): UniqueUsers {
  const days = { from: firstDay + from, to: firstDay + to };
  return finish(countUniqueUsers(unions, environment, days, [[0, 1, 2], [1], []]));
}

test('cached unions equal freshly computed unions, whenever users are added', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const store = openUsageTables(temporaryDirectory());
      const { add, endDay } = writer(store);
      const unions = new UserUnions(store);
      for (const step of all) {
        if ('seen' in step) add(step.seen);
        else if ('dayOver' in step) endDay();
        else expect(count(unions, step.ask)).toEqual(count(new UserUnions(store), step.ask));
      }
      await store.lmdb.close();
    }),
    { numRuns: 30 },
  );
});

test('a user added to a past day is counted, and a user added today keeps the cached unions valid', async () => {
  const store = temporaryUsage();
  const { add, endDay } = writer(store);
  const unions = new UserUnions(store);
  const seen = (day: number, user: number, isCounted: boolean) => add({ day, ordinal: 0, user, isCounted });
  const carried = () => readRollUpState(store.carried, environment);
  seen(0, 1, true);
  endDay();
  seen(1, 2, true);
  expect(daysOver(carried())).toBe(firstDay + 1);
  expect(count(unions, [0, 2]).environment).toBe(2);
  expect(carried().lateUsers).toBe(0);
  seen(0, 3, false);
  expect(carried().lateUsers).toBe(1);
  expect(count(unions, [0, 2])).toMatchObject({ environment: 3, groups: [3, 0, 0] });
});
