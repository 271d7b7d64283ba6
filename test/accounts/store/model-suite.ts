import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AccountStore, Transaction } from '../../../src/accounts/store/account-store.ts';
import { type AccountStoreFixture, put, read, type Table, tables } from './fixture.ts';

/** Compares an account store with a map, for arbitrary changes. */
export function testModel(name: string, open: () => Promise<AccountStoreFixture>): void {
  test(`${name}: changes return the same results as a map, and leave the same records on disk`, async () => {
    const { accountStore, hold, reopen } = await open();
    const value = fc.option(fc.nat(9), { nil: undefined });
    const step = fc.record({ table: fc.constantFrom(...tables), key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value });
    const plan = fc.record({ steps: fc.array(step, { maxLength: 6 }), throws: fc.boolean(), waits: fc.boolean() });
    let model: Model = new Map();
    const property = fc.asyncProperty(fc.array(plan, { maxLength: 12 }), async (plans) => {
      for (const { steps, throws, waits } of plans) {
        const release = hold();
        // The store may run a change immediately or later, and may repeat it. The order of the changes stays the same.
        const change = accountStore.change((tx) => {
          const next = new Map(model);
          for (const each of steps) apply(tx, next, each);
          expect(contents(tx)).toEqual(inOrder(next));
          expect(numbersIn(tx)).toEqual(listNumbers(next));
          expect(tx.records('numbers').size).toBe(listNumbers(next).length);
          if (throws) throw new Error('no');
          model = next;
        });
        const ended = Promise.allSettled([change]);
        release();
        if (!waits) continue;
        expect(await ended).toMatchObject([{ status: throws ? 'rejected' : 'fulfilled' }]);
        expect(contents(accountStore)).toEqual(inOrder(model));
      }
      await accountStore.change(() => undefined);
      expect(contents(accountStore)).toEqual(inOrder(model));
    });
    await fc.assert(property, { numRuns: 50, endOnFailure: true });
    expect(contents(reopen())).toEqual(inOrder(model));
  });
}

/** Numbers by table and key. */
type Model = Map<string, number>;

interface Step {
  readonly table: Table;
  readonly key: string;
  readonly value: number | undefined;
}

function apply(tx: Transaction, model: Model, { table, key, value }: Step): void {
  if (value === undefined) {
    tx.remove(table, key);
    model.delete(`${table} ${key}`);
  } else {
    put(tx, table, key, value);
    model.set(`${table} ${key}`, value);
  }
}

function contents(reader: Pick<AccountStore, 'get' | 'keys'>): unknown {
  const found = tables.flatMap((table) =>
    Array.from(
      reader.keys(table, { start: 'a', end: 'z' }),
      (key) => [`${table} ${key}`, read(reader, table, key)!] as const,
    ),
  );
  return inOrder(new Map(found));
}

function inOrder(model: ReadonlyMap<string, number>): unknown {
  return [...model].sort(([one], [other]) => one.localeCompare(other));
}

function numbersIn(tx: Transaction): number[] {
  return [...tx.records('numbers').values()].sort();
}

function listNumbers(model: ReadonlyMap<string, number>): number[] {
  return [...model].flatMap(([key, value]) => (key.startsWith('numbers ') ? [value] : [])).sort();
}
