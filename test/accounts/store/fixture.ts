import type { AccountStore, Transaction } from '../../../src/accounts/store/account-store.ts';
import type { TestHealth } from '../fixture.ts';

/** An account store on fresh tables whose commits a test can delay or fail. */
export interface AccountStoreFixture {
  readonly accountStore: AccountStore;
  readonly health: TestHealth;
  /** Delays commits from now on. Returns a function that releases them. */
  hold(): () => void;
  /** Makes the next commit fail without writing anything. */
  failNext(error: Error): void;
  /** The error with which a change is rejected if its commit has failed. */
  readonly refusal: object;
  /** The failures reported to the health of the store after `failNext(error)`. */
  listFailures(error: Error): readonly Error[];
  /** Number of started commits with writes. */
  commits(): number;
  /** Opens the store as a new process does. */
  reopen(): AccountStore;
}

/** `numbers` is held in memory, `loginThrottles` is read from disk. */
export const tables = ['numbers', 'loginThrottles'] as const;
export type Table = (typeof tables)[number];

export function put(tx: Transaction, table: Table, key: string, value: number): void {
  if (table === 'numbers') tx.put('numbers', key, value);
  else tx.put('loginThrottles', key, { failures: value, lastAt: 0 });
}

export function read(reader: Pick<AccountStore, 'get'>, table: Table, key: string): number | undefined {
  return table === 'numbers' ? reader.get('numbers', key) : reader.get('loginThrottles', key)?.failures;
}

/** Increments a stored number, and returns the previous value. */
export function count(tx: Transaction, table: Table = 'numbers', key = 'n'): number {
  const before = read(tx, table, key) ?? 0;
  put(tx, table, key, before + 1);
  return before;
}
