import type { AccountRecords, AccountTable, AccountTables, TableName } from '../../storage/lmdb/accounts.ts';
import type { AccountStore, Reader, Transaction } from './account-store.ts';

/** A key for something that expires, in seconds. Keys start with the expiry, so expired ones come first. */
export function sortedKey(seconds: number, id: string): string {
  return `${keyAt(seconds)}${id}`;
}

/** The first key of what expires at or after a time, in seconds. */
export function keyAt(seconds: number): string {
  return `${String(Math.max(0, Math.floor(seconds))).padStart(12, '0')}.`;
}

/** A table, and which of its records to remove. */
export interface Sweep<Name extends TableName> {
  readonly table: Name;
  /** Reads only keys before this one; by default all. */
  readonly end?: string;
  /** The records are in order of expiry: the sweep stops at the first that has not expired. */
  readonly inOrder?: true;
  isOver(key: string, record: AccountRecords[Name], reader: Reader): boolean;
  /** Also removes what belongs to a record; by default, only the record is removed. */
  remove?(tx: Transaction, key: string, record: AccountRecords[Name]): void;
}

/**
 * Reads some records after a key and removes those that have expired. Returns the key to continue after; `undefined` at the
 * end.
 */
export type SweepStep = (after: string | undefined) => Promise<string | undefined>;

export interface SweepControl {
  /** Resolves after `ms`; false if the service is stopping, which also stops the sweep. */
  pause(ms: number): Promise<boolean>;
  /** Reports a failed round. The sweep continues with the next one. */
  failed(error: unknown): void;
}

/** The pause between two steps, so that requests wait for at most one. */
const betweenStepsMs = 5;

export async function sweepInRounds(
  { pause, failed }: SweepControl,
  betweenRoundsMs: number,
  round: () => Promise<void>,
): Promise<void> {
  do {
    try {
      await round();
    } catch (error) {
      failed(error);
    }
  } while (await pause(betweenRoundsMs));
}

/** Runs all steps over their tables; ends early if the service is stopping. It throws as `AccountStore.change` does. */
export async function runSweepSteps(
  { pause }: Pick<SweepControl, 'pause'>,
  steps: readonly SweepStep[],
): Promise<void> {
  for (const step of steps) {
    for (let after = await step(undefined); after !== undefined; after = await step(after))
      if (!(await pause(betweenStepsMs))) return;
  }
}

/** Records per step. A step takes about a millisecond of the event loop, and no plan waits longer. */
const stepLimit = 256;

/** Makes the steps that remove expired records, each as its own change. A step throws as `AccountStore.change` does. */
export function sweepSteps<Name extends TableName>(
  store: AccountTables,
  accountStore: AccountStore,
  sweep: Sweep<Name>,
): SweepStep {
  const { table, end, inOrder, isOver } = sweep;
  return async (after) => {
    const start = after === undefined ? {} : { start: after, exclusiveStart: true };
    const range = { ...start, ...(end === undefined ? {} : { end }), limit: stepLimit };
    const records = store[table] as unknown as AccountTable<Name>;
    const found = [...records.getRange(range)];
    const over = found.filter(({ key, value }) => isOver(key, value, accountStore)).map(({ key }) => key);
    if (over.length > 0) await accountStore.change((tx) => remove(tx, over, sweep));
    const isLast = found.length < stepLimit || (inOrder && over.length < found.length);
    return isLast ? undefined : found.at(-1)?.key;
  };
}

/** A record that has changed since it was read may remain. */
function remove<Name extends TableName>(tx: Transaction, keys: readonly string[], sweep: Sweep<Name>): void {
  for (const key of keys) {
    const record = tx.get(sweep.table, key);
    if (record === undefined || !sweep.isOver(key, record, tx)) continue;
    if (sweep.remove === undefined) tx.remove(sweep.table, key);
    else sweep.remove(tx, key, record);
  }
}
