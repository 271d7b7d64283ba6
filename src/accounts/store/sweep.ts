import type { AccountRecords, AccountStore, AccountTable, TableName } from '../../storage/lmdb/accounts.ts';
import type { Draft, Engine, Reader } from './engine.ts';

/** A table, and which of its records are to go. */
export interface Sweep<Name extends TableName> {
  readonly table: Name;
  /** Only keys before this one are read; without it all are. */
  readonly end?: string;
  /** The records are in the order in which they expire: the sweep ends at the first that has not. */
  readonly inOrder?: true;
  isOver(key: string, record: AccountRecords[Name], reader: Reader): boolean;
  /** Removes what belongs to a record with it; without this, the record alone is removed. */
  remove?(draft: Draft, key: string, record: AccountRecords[Name]): void;
}

/** Reads some records that come after a key, removes what is over, and gives the key to go on after; `undefined` at the end. */
export type SweepStep = (after: string | undefined) => Promise<string | undefined>;

/** What a sweep needs of the service that it runs in. */
export interface SweepTurns {
  /** Resolves after `ms`; false when the service is stopping, and the sweep with it. */
  pause(ms: number): Promise<boolean>;
  /** A round failed; the sweep goes on with the next one. */
  failed(error: unknown): void;
}

/** Between two steps, so that requests wait for no more than one. */
const betweenStepsMs = 5;

/** Does one round after another, for as long as the service runs. */
export async function sweepInRounds(
  { pause, failed }: SweepTurns,
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

/** Takes all steps over their tables; ends early when the service is stopping. It throws as `Engine.change` does. */
export async function runSweepSteps(
  { pause }: Pick<SweepTurns, 'pause'>,
  steps: readonly SweepStep[],
): Promise<void> {
  for (const step of steps) {
    for (let after = await step(undefined); after !== undefined; after = await step(after))
      if (!(await pause(betweenStepsMs))) return;
  }
}

/** Records that one step reads: that takes about a millisecond of the event loop, and no plan waits longer. */
const stepLimit = 256;

/** Makes the steps that remove what is over, each as a change of its own. A step throws as `Engine.change` does. */
export function sweepSteps<Name extends TableName>(
  store: AccountStore,
  engine: Engine,
  sweep: Sweep<Name>,
): SweepStep {
  const { table, end, inOrder, isOver } = sweep;
  return async (after) => {
    const start = after === undefined ? {} : { start: after, exclusiveStart: true };
    const range = { ...start, ...(end === undefined ? {} : { end }), limit: stepLimit };
    const records = store[table] as unknown as AccountTable<Name>;
    const found = [...records.getRange(range)];
    const over = found.filter(({ key, value }) => isOver(key, value, engine)).map(({ key }) => key);
    if (over.length > 0) await engine.change((draft) => remove(draft, over, sweep));
    const isLast = found.length < stepLimit || (inOrder && over.length < found.length);
    return isLast ? undefined : found.at(-1)?.key;
  };
}

/** Since it was read a record may have changed: then it stays. */
function remove<Name extends TableName>(draft: Draft, keys: readonly string[], sweep: Sweep<Name>): void {
  for (const key of keys) {
    const record = draft.get(sweep.table, key);
    if (record === undefined || !sweep.isOver(key, record, draft)) continue;
    if (sweep.remove === undefined) draft.remove(sweep.table, key);
    else sweep.remove(draft, key, record);
  }
}
