import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HotSketches } from '../../../src/storage/aggregate/hot-sketches.ts';
import { HyperLogLog } from '../../../src/storage/aggregate/hyperloglog.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { environmentOrdinal, sketchChunks } from '../../../src/storage/lmdb/sketches.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { createSketch, encodeSketch, hashUser, someUsers } from './sketch-fixture.ts';

const environment = 3;
const days = [20_000, 20_001];
const roomy = 64 * 2 ** 20;

interface Addition {
  readonly ordinal: number;
  readonly day: number;
  readonly users: readonly number[];
}

function addAll(hot: HotSketches, { ordinal, day, users }: Addition): void {
  for (const user of users) {
    const { high, low } = hashUser(user);
    hot.add(seriesRef(environment, ordinal), day, high, low);
  }
}

function storedSketches(store: UsageTables): Map<string, HyperLogLog> {
  const sketches = new Map<string, HyperLogLog>();
  for (const day of days) {
    for (const { ordinal, chunk, content } of sketchChunks(store, environment, day, 0, 2 ** 20)) {
      const sketch = sketches.get(`${day}/${ordinal}`) ?? new HyperLogLog();
      sketch.mergeChunk(chunk, content);
      sketches.set(`${day}/${ordinal}`, sketch);
    }
  }
  return sketches;
}

const states = (sketches: ReadonlyMap<string, HyperLogLog>) =>
  new Map([...sketches].map(([name, sketch]) => [name, encodeSketch(sketch)]));

const addition: fc.Arbitrary<Addition> = fc.record({
  ordinal: fc.constantFrom(0, 1, 2, environmentOrdinal),
  day: fc.constantFrom(...days),
  users: someUsers,
});
const step = fc.record({
  additions: fc.array(addition, { maxLength: 4 }),
  outcome: fc.constantFrom('kept', 'kept', 'kept', 'failed', 'reopened'),
});

test.each([
  ['all sketches', roomy],
  ['a few sketches', 100_000],
  ['no sketches', 0],
])('the stored sketches equal the sketches of the committed users, with memory for %s', async (_, limit) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
      const data = temporaryDirectory();
      let store = openUsageTables(data);
      let hot = new HotSketches(store.sketches, limit);
      const expected = new Map<string, HyperLogLog>();
      for (const { additions, outcome } of steps) {
        const commit = () =>
          store.lmdb.transactionSync(() => {
            for (const one of additions) addAll(hot, one);
            hot.put();
            if (outcome === 'failed') throw new Error('the disk is full');
          });
        if (outcome === 'failed') {
          expect(commit).toThrow('the disk is full');
          hot.forget();
          continue;
        }
        commit();
        for (const { day, ordinal, users } of additions) {
          if (users.length === 0) continue;
          const sketch = expected.get(`${day}/${ordinal}`) ?? new HyperLogLog();
          sketch.merge(createSketch(users));
          expected.set(`${day}/${ordinal}`, sketch);
        }
        if (outcome !== 'reopened') continue;
        await store.lmdb.close();
        store = openUsageTables(data);
        hot = new HotSketches(store.sketches, limit);
      }
      expect(states(storedSketches(store))).toEqual(states(expected));
      await store.lmdb.close();
    }),
    { numRuns: limit === 0 ? 6 : 15 },
  );
});

test('adding a known user causes no write, and adding a new user causes at most one write', async () => {
  const store = temporaryUsage();
  const commit = (hot: HotSketches, first: number) =>
    store.lmdb.transactionSync(() => {
      const users = Array.from({ length: 100 }, (_, index) => first + index);
      for (let ordinal = 0; ordinal < 6; ordinal++) addAll(hot, { ordinal, day: 20_000, users });
      return hot.put();
    });
  const hot = new HotSketches(store.sketches, roomy);
  expect(commit(hot, 1000)).toBeLessThanOrEqual(6 * 32);
  expect(commit(hot, 1000)).toBe(0);
  expect(commit(new HotSketches(store.sketches, roomy), 1000)).toBe(0);
  expect(commit(hot, 1099)).toBeGreaterThan(0);
});

test('users of a failed commit count as new users in a later commit', async () => {
  const store = temporaryUsage();
  const hot = new HotSketches(store.sketches, roomy);
  const once = { ordinal: 1, day: 20_000, users: [5] };
  const fail = () =>
    store.lmdb.transactionSync(() => {
      addAll(hot, once);
      hot.put();
      throw new Error('no');
    });
  expect(fail).toThrow('no');
  hot.forget();
  expect(hot.bytes).toBe(0);
  expect(storedSketches(store)).toEqual(new Map());
  const puts = store.lmdb.transactionSync(() => {
    addAll(hot, once);
    return hot.put();
  });
  expect(puts).toBe(1);
});

test('the memory of cached sketches is limited, even if one commit changes 2000 sketches', async () => {
  const store = temporaryUsage();
  const limit = 500_000;
  const hot = new HotSketches(store.sketches, limit);
  let most = 0;
  store.lmdb.transactionSync(() => {
    for (let ordinal = 0; ordinal < 2000; ordinal++) {
      addAll(hot, { ordinal, day: 20_000, users: [1001, 1002, 1003] });
      most = Math.max(most, hot.bytes);
    }
    hot.put();
  });
  expect(most).toBeGreaterThan(limit / 2);
  expect(most).toBeLessThan(limit + 10_000);
  expect([...storedSketches(store).values()].map((sketch) => sketch.estimate())).toEqual(Array(2000).fill(3));
});
