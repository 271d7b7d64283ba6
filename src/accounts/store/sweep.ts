import type { AccountRecords, AccountTable, AccountTables, TableName } from '../../storage/lmdb/accounts.ts';
import type { AccountStore, Reader, Transaction } from './account-store.ts';

/** The key of a record that expires. It starts with the expiry, in seconds, so expired records come first. */
export function sortedKey(seconds: number, id: string): string {
  return `${keyAt(seconds)}${id}`;
}

/** The lowest key of records that expire at or after a time, in seconds. */
export function keyAt(seconds: number): string {
  return `${String(Math.max(0, Math.floor(seconds))).padStart(12, '0')}.`;
}

/** A table, and a rule for the removal of its records. */
export interface Sweep<Name extends TableName> {
  readonly table: Name;
  /** Exclusive upper bound of the keys to read; by default, all keys are read. */
  readonly end?: string;
  /** True if the records are in order of expiry. The sweep then stops at the first unexpired record. */
  readonly inOrder?: true;
  isOver(key: string, record: AccountRecords[Name], reader: Reader): boolean;
  /** Removes a record with its dependent records; by default, only the record is removed. */
  remove?(tx: Transaction, key: string, record: AccountRecords[Name]): void;
}

/** Removes expired records, beginning after a key. Resolves with the last key read; `undefined` at the end. */
export type SweepStep = (after: string | undefined) => Promise<string | undefined>;

export interface SweepControl {
  /** Resolves with true after `ms`, or with false if the service is stopping. The sweep stops on false. */
  pause(ms: number): Promise<boolean>;
  /** Reports a failed round. The sweep continues with the next round. */
  failed(error: unknown): void;
}

/** Pause between two steps, so that requests wait for at most one step. */
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

/** Runs all steps over their tables, until the service is stopping. Rejects as `AccountStore.change` does. */
export async function runSweepSteps(
  { pause }: Pick<SweepControl, 'pause'>,
  steps: readonly SweepStep[],
): Promise<void> {
  for (const step of steps) {
    for (let after = await step(undefined); after !== undefined; after = await step(after))
      if (!(await pause(betweenStepsMs))) return;
  }
}

/** Records per step. A step blocks the event loop for about a millisecond, so other changes hardly wait. */
const stepLimit = 256;

/**
 * Returns the step that removes expired records. Each call is one change, and rejects as `AccountStore.change` does.
 */
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

/** Removes the records that are still expired. Records can have changed since they were read. */
function remove<Name extends TableName>(tx: Transaction, keys: readonly string[], sweep: Sweep<Name>): void {
  for (const key of keys) {
    const record = tx.get(sweep.table, key);
    if (record === undefined || !sweep.isOver(key, record, tx)) continue;
    if (sweep.remove === undefined) tx.remove(sweep.table, key);
    else sweep.remove(tx, key, record);
  }
}
