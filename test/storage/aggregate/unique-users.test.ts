import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HotSketches } from '../../../src/storage/aggregate/hot-sketches.ts';
import { countUniqueUsers, type Days, UserUnions } from '../../../src/storage/aggregate/unique-users.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { environmentOrdinal } from '../../../src/storage/lmdb/sketches.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { createSketch, hashUser, someUsers } from './sketch-fixture.ts';

interface SeenUsers {
  readonly environment: number;
  readonly ordinal: number;
  readonly day: number;
  readonly users: readonly number[];
}

function keep(store: UsageTables, all: readonly SeenUsers[]): void {
  const hot = new HotSketches(store.sketches, 1e7);
  store.lmdb.transactionSync(() => {
    for (const { environment, ordinal, day, users } of all) {
      for (const user of users) {
        const { high, low } = hashUser(user);
        hot.add(seriesRef(environment, ordinal), day, high, low);
      }
    }
    hot.put();
  });
}

function count(store: UsageTables, days: Days, groups: readonly (readonly number[])[]) {
  return finish(countUniqueUsers(new UserUnions(store), 1, days, groups));
}

test('the number of unique users is the size of the union of the sketches over all days of the report', async () => {
  const seen: fc.Arbitrary<SeenUsers> = fc.record({
    environment: fc.constantFrom(1, 1, 1, 2),
    ordinal: fc.constantFrom(0, 1, 2, 3),
    day: fc.integer({ min: 100, max: 104 }),
    users: someUsers,
  });
  const groups = [[0, 2], [3], [], [1, 2, 0]];
  await fc.assert(
    fc.asyncProperty(fc.array(seen, { maxLength: 10 }), async (all) => {
      const store = openUsageTables(temporaryDirectory());
      keep(store, [...all, ...all.map((each) => ({ ...each, ordinal: environmentOrdinal }))]);
      const inReport = all.filter(({ environment, day }) => environment === 1 && day >= 101 && day < 104);
      const expected = (ordinals: readonly number[]) =>
        createSketch(
          inReport.filter(({ ordinal }) => ordinals.includes(ordinal)).flatMap(({ users }) => users),
        ).estimate();
      const users = count(store, { from: 101, to: 104 }, groups);
      const most = expected([0, 1, 2, 3]);
      expect(users.environment).toBe(most);
      const single = (ordinal: number) => expected([ordinal]);
      for (const ordinal of [0, 1, 2, 3]) expect(users.series.get(ordinal) ?? 0).toBe(single(ordinal));
      for (const [index, group] of groups.entries()) {
        const parts = group.map(single);
        const greatest = Math.max(0, ...parts);
        const sum = parts.reduce((total, each) => total + each, 0);
        expect(users.groups[index]).toBe(Math.min(sum, Math.max(greatest, expected(group))));
      }
      await store.lmdb.close();
    }),
    { numRuns: 25 },
  );
});

test('the groups of a report keep their order, even if there are too many groups for one counting step', async () => {
  const store = temporaryUsage();
  const ordinals = Array.from({ length: 600 }, (_, index) => (index * 7) % 600);
  const users = (ordinal: number) => Array.from({ length: 1 + (ordinal % 4) }, (_, index) => 1000 + index);
  keep(
    store,
    ordinals.map((ordinal) => ({ environment: 1, ordinal, day: 100, users: users(ordinal) })),
  );
  const groups = ordinals.map((ordinal) => [ordinal, (ordinal + 1) % 600]);
  const counted = count(store, { from: 99, to: 102 }, groups);
  expect(counted.groups).toEqual(groups.map((group) => Math.max(...group.map((of) => 1 + (of % 4)))));
  expect(counted.series.size).toBe(600);
});

test('an environment has at least the users of each series, and at most the users of all series added up', async () => {
  const property = fc.property(
    fc.array(fc.tuple(fc.nat(1e6), fc.integer({ min: 500, max: 3000 })), { minLength: 2, maxLength: 3 }),
    (parts) => {
      const store = openUsageTables(temporaryDirectory());
      const seen = parts.map(([first, length], ordinal) => ({
        environment: 1,
        ordinal,
        day: 100,
        users: Array.from({ length }, (_, index) => first * 4000 + index),
      }));
      keep(store, [...seen, ...seen.map((each) => ({ ...each, ordinal: environmentOrdinal }))]);
      const { environment, groups, series } = count(store, { from: 100, to: 101 }, [parts.map((_, at) => at)]);
      const counts = parts.map((_, ordinal) => series.get(ordinal)!);
      expect(groups[0]).toBeGreaterThanOrEqual(Math.max(...counts));
      expect(groups[0]).toBeLessThanOrEqual(counts.reduce((sum, each) => sum + each, 0));
      expect(groups[0]).toBeLessThanOrEqual(environment);
      void store.lmdb.close();
    },
  );
  fc.assert(property, { numRuns: 15 });
});

test('a report sees the latest commit', async () => {
  const store = temporaryUsage();
  for (const user of [1001, 1002, 1003]) {
    keep(store, [{ environment: 1, ordinal: environmentOrdinal, day: 100, users: [user] }]);
    expect(count(store, { from: 100, to: 101 }, []).environment).toBe(user - 1000);
  }
});
