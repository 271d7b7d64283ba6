import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import type { Deletion } from '../../../src/storage/lmdb/records.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { dump, wholeBatch } from '../../support/whole-batch.ts';

const now = Date.UTC(2026, 0, 31, 12);

/** Removes an application, or one of its environments. */
function createDeletion(application: number, environments: readonly number[], whole: boolean): Deletion {
  const target = { type: 'application', id: 'app', name: 'Shop' } as const;
  return { application, environments, whole, target, teamId: 'team', requestedAt: now };
}

/** Fills a store with data of environments. Environments 10 to 19 belong to application 1, and so on. */
function fill(store: UsageTables, environments: readonly number[]): void {
  const { write } = createAggregator(store);
  for (const environment of environments) {
    write(wholeBatch(Math.floor(environment / 10), environment, now).seal());
  }
}

/** Runs steps until nothing is left. @returns the amount of work of each step */
function erase(store: UsageTables, deletion: Deletion, limit: number): number[] {
  const { maintain } = createAggregator(store);
  const steps: number[] = [];
  do steps.push(maintain({ task: 'deletion', deletion, limit }));
  while (steps.at(-1)! > 0);
  return steps;
}

/** Returns the content of a store that has only these environments. */
async function fillStore(environments: readonly number[]): Promise<string[]> {
  const store = openUsageTables(temporaryDirectory());
  fill(store, environments);
  const records = dump(store);
  await store.lmdb.close();
  return records;
}

/** Omits records of messages, because they do not contain their application. */
const withoutMessages = (records: readonly string[]) =>
  records.filter((record) => !/^(messages|cumulative) /.test(record));

test.each([1, 3, 1000])(
  'erasure in steps of %d records removes all data of an application, and no other data',
  async (limit) => {
    const store = temporaryUsage();
    fill(store, [10, 11, 20, 30]);
    erase(store, createDeletion(2, [20], true), limit);
    expect(withoutMessages(dump(store))).toEqual(withoutMessages(await fillStore([10, 11, 30])));
    erase(store, createDeletion(1, [10, 11], true), limit);
    expect(withoutMessages(dump(store))).toEqual(withoutMessages(await fillStore([30])));
    erase(store, createDeletion(3, [30], true), limit);
    expect(withoutMessages(dump(store))).toEqual([]);
  },
);

test('erasing an environment removes its data, and keeps the people and the ledger of the application', async () => {
  const store = temporaryUsage();
  fill(store, [10, 11]);
  erase(store, createDeletion(1, [10], false), 5);
  const kept = /^(messages|cumulative|totals|ledger|identit)/;
  const both = await fillStore([10, 11]);
  const other = await fillStore([11]);
  expect(dump(store).filter((record) => !kept.test(record))).toEqual(other.filter((record) => !kept.test(record)));
  expect(dump(store).filter((record) => kept.test(record))).toEqual(both.filter((record) => kept.test(record)));
});

test('a deletion step removes at most `limit` records, and returns 0 once nothing is left', async () => {
  const store = temporaryUsage();
  fill(store, [10]);
  const steps = erase(store, createDeletion(1, [10], true), 7);
  expect(Math.max(...steps)).toBe(7);
  expect(steps.slice(0, -2).every((touched) => touched === 7)).toBe(true);
  expect(steps.at(-1)).toBe(0);
});

test('another process finishes an interrupted erasure', async () => {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  fill(store, [10, 20]);
  const deletion = createDeletion(1, [10], true);
  for (let begun = 0; begun < 3; begun += 1) {
    expect(createAggregator(store).maintain({ task: 'deletion', deletion, limit: 6 })).toBe(6);
    await store.lmdb.close();
    store = openUsageTables(data);
  }
  erase(store, deletion, 6);
  expect(withoutMessages(dump(store))).toEqual(withoutMessages(await fillStore([20])));
  await store.lmdb.close();
});

test('a worker keeps counting for other environments while one environment is removed', async () => {
  const store = temporaryUsage();
  const { write, maintain } = createAggregator(store);
  for (const environment of [10, 20]) write(wholeBatch(environment / 10, environment, now).seal());
  const step = { task: 'deletion', deletion: createDeletion(1, [10], true), limit: 4 } as const;
  do write(wholeBatch(2, 20, now).seal());
  while (maintain(step) > 0);
  const of = (records: readonly string[], prefix: string) => records.filter((record) => record.startsWith(prefix));
  const ten = (10).toString(16).padStart(8, '0');
  for (const table of ['counts', 'measurements', 'sketches', 'seen', 'series', 'exposures']) {
    expect(of(dump(store), `${table} ${ten}`), table).toEqual([]);
  }
});
