import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Exposures,
  exposuresKey,
  listPerson,
  putExposures,
  readExposures,
  removeExposures,
  sweepExposures,
} from '../../../src/storage/lmdb/exposures.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const day = 86_400;
const start = 20_000 * day;

function createKey(person: number, environment = 1): Buffer {
  return exposuresKey(environment, Buffer.alloc(16, person));
}

function see(store: UsageTables, key: Buffer, ordinal: number, seconds: number): void {
  const exposures = readExposures(store, key) ?? listPerson(store, key, seconds, 100);
  const row = exposures!.rows.get(ordinal);
  const firstSeen = row?.firstSeen ?? seconds;
  exposures!.rows.set(ordinal, { firstSeen, lastSeen: seconds, checks: 1, used: 2, viewed: 3 });
  putExposures(store, key, exposures as Exposures);
}

function transact<T>(store: UsageTables, action: () => T): T {
  return store.lmdb.transactionSync(action);
}

/** Sweeps in small steps until nothing is left. @returns the number of people visited */
function sweep(store: UsageTables, seconds: number, limit = 2): number {
  let total = 0;
  for (let some = -1; some !== 0; total += some) {
    some = transact(store, () => sweepExposures(store, seconds * 1000, limit));
  }
  return total;
}

test('the stored format of exposures does not change', async () => {
  const store = temporaryUsage();
  transact(store, () => see(store, createKey(7), 5, start));
  const stored = [...store.exposures.getRange()].map(({ key, value }) => [key.toString('hex'), value.toString('hex')]);
  expect(stored).toEqual([
    ['00000001', '01000000'],
    [
      `00000001${'07'.repeat(16)}`,
      '204e0000' + '05000000' + '0030ff66' + '0030ff66' + '000000000000f03f' + '0000000000000040' + '0000000000000840',
    ],
  ]);
  expect([...store.exposureDays.getKeys()].map((key) => key.toString('hex'))).toEqual([
    `00004e2000000001${'07'.repeat(16)}`,
  ]);
});

test('a sweep removes exactly the expired exposures', async () => {
  const seen = fc.record({
    person: fc.integer({ min: 1, max: 4 }),
    environment: fc.constantFrom(1, 2),
    ordinal: fc.integer({ min: 0, max: 2 }),
    days: fc.integer({ min: 0, max: 25 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(seen, { maxLength: 6 }), { maxLength: 8 }), async (rounds) => {
      const store = openUsageTables(temporaryDirectory());
      const model = new Map<string, number>();
      let today = start;
      for (const round of rounds) {
        transact(store, () => {
          for (const { person, environment, ordinal, days } of round.toSorted((a, b) => a.days - b.days)) {
            see(store, createKey(person, environment), ordinal, today + days * day);
            model.set(`${environment}/${person}/${ordinal}`, today + days * day);
          }
        });
        today += 25 * day;
        sweep(store, today);
        for (const [name, at] of model) if (at < today - 30 * day) model.delete(name);
      }
      const left = new Map<string, number>();
      for (const environment of [1, 2]) {
        for (const person of [1, 2, 3, 4]) {
          for (const [ordinal, { lastSeen }] of readExposures(store, createKey(person, environment))?.rows ?? []) {
            left.set(`${environment}/${person}/${ordinal}`, lastSeen);
          }
        }
      }
      expect(left).toEqual(model);
      sweep(store, today + 1000 * day);
      expect([...store.exposures.getKeys()]).toEqual([]);
      expect([...store.exposureDays.getKeys()]).toEqual([]);
      await store.lmdb.close();
    }),
    { numRuns: 40 },
  );
});

test('one step of a sweep visits at most `limit` people, and all steps visit each person once', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    for (let person = 1; person <= 5; person++) see(store, createKey(person), 0, start);
    see(store, createKey(1), 1, start + 20 * day);
  });
  const later = start + 32 * day;
  expect(transact(store, () => sweepExposures(store, later * 1000, 3))).toBe(3);
  expect(sweep(store, later)).toBe(2);
  expect([...(readExposures(store, createKey(1))?.rows.keys() ?? [])]).toEqual([1]);
  expect(readExposures(store, createKey(2))).toBeUndefined();
});

test('removing people makes room for other people in an environment', async () => {
  const store = temporaryUsage();
  transact(store, () => {
    for (const person of [1, 2]) see(store, createKey(person), 0, start);
    expect(listPerson(store, createKey(3), start, 2)).toBeUndefined();
    expect(listPerson(store, createKey(3, 2), start, 2)).toBeDefined();
    removeExposures(store, createKey(1));
    removeExposures(store, createKey(1));
    expect(listPerson(store, createKey(3), start, 2)).toBeDefined();
    expect(listPerson(store, createKey(4), start, 2)).toBeUndefined();
  });
});
