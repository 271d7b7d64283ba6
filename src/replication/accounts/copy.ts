import type { Write } from '../../accounts/store/account-store.ts';
import { CommittedRecords } from '../../accounts/store/committed.ts';
import { postgresAway } from '../../contract/errors.ts';
import {
  type AccountTables,
  accountTables,
  type CopyState,
  copyStateWriter,
  readCopyState,
  type TableName,
} from '../../storage/lmdb/accounts.ts';
import type { StoreHealth } from '../../storage/lmdb/store-health.ts';
import type { LogContent, LogPosition } from '../postgres/follower.ts';
import type { AccountChange } from './record-codec.ts';

/**
 * The node's copy of the accounts in PostgreSQL, kept in LMDB and in memory. It stores its records together with its
 * position in PostgreSQL's history of changes. Changes are applied one after another.
 */
export class Copy extends CommittedRecords implements LogContent {
  readonly #writeState: (state: CopyState) => void;
  #state: CopyState;
  #era = 0;
  #applying: Promise<unknown> = Promise.resolve();

  /** @param store accounts that are a copy, not the accounts of a single machine */
  constructor(store: AccountTables, health: Pick<StoreHealth, 'ready' | 'failed'>) {
    super(store, health);
    const state = readCopyState(store.lmdb);
    if (state === undefined) throw new Error('Cannot open the accounts as a replica: no replica state found');
    this.#writeState = copyStateWriter(store.lmdb);
    this.#state = state;
  }

  get applied(): LogPosition {
    return { position: this.#state.version, id: this.#state.change };
  }

  /** The era: number of times that the content was replaced. Changes that were read in an earlier era are obsolete. */
  get era(): number {
    return this.#era;
  }

  get state(): CopyState {
    return this.#state;
  }

  get unusable(): string | undefined {
    return this.#state.tables === allTables ? undefined : 'another version of flagmeter made the copy';
  }

  /**
   * Applies consecutive changes, skipping changes that are already applied. Resolves when reads show the changes.
   * @param era value of `era` when the changes were read
   * @param settled true if these changes include the repair that follows a loss of data in PostgreSQL
   * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
   */
  advance(changes: readonly AccountChange[], era: number, settled = false): Promise<void> {
    return this.#inOrder(async () => {
      if (era !== this.#era) throw postgresAway();
      const news = changes.filter(({ position }) => position > this.#state.version);
      const { position: version, id: change } = news.at(-1) ?? this.applied;
      const lossOpen = this.#state.lossOpen && !settled;
      if (news.length === 0 && lossOpen === this.#state.lossOpen) return;
      const state = { ...this.#state, version, change, lossOpen };
      await this.#commit(lastOfEach(news), state);
    });
  }

  /**
   * Replaces all records.
   * @param isLoss true if PostgreSQL has lost changes that were applied here
   * @throws {Refusal} `store_unavailable`
   */
  replace(records: readonly Write[], head: LogPosition, isLoss: boolean): Promise<void> {
    return this.#inOrder(() => {
      const { position: version, id: change } = head;
      const state = { ...this.#state, version, change, tables: allTables, ...this.#lossAfter(records, isLoss) };
      this.#era += 1;
      return this.#commit(this.#difference(records), state);
    });
  }

  /**
   * Returns the repair that remains to be done after a replacement. Each repair increments a number. If the number in
   * `records` is higher than any number applied here, another node has made the repair.
   */
  #lossAfter(records: readonly Write[], isLoss: boolean): Pick<CopyState, 'lossOpen' | 'lossMark'> {
    if (!isLoss) return { lossOpen: this.#state.lossOpen };
    const found = records.find(({ table, key }) => table === 'numbers' && key === repairKey)?.value;
    const lossMark = typeof found === 'number' ? found : 0;
    return { lossOpen: lossMark <= (this.get('numbers', repairKey) ?? 0), lossMark };
  }

  #inOrder(action: () => Promise<void>): Promise<void> {
    const done = this.#applying.then(action);
    this.#applying = done.catch(() => {});
    return done;
  }

  #commit(writes: readonly Write[], state: CopyState): Promise<void> {
    const shown = () => {
      this.#state = state;
    };
    return this.commit(writes, () => this.#writeState(state), shown);
  }

  /** Returns the writes that turn the current records into `records`. */
  #difference(records: readonly Write[]): Write[] {
    const wanted = new Set(records.map(formatPlace));
    this.refresh();
    const found = accountTables.flatMap((table) =>
      Array.from(this.store[table].getKeys(), (key) => ({ table, key, value: undefined }) as Write),
    );
    const gone = found.filter((record) => !wanted.has(formatPlace(record)) && !isOwn(record.table, record.key));
    const changed = records.filter(
      ({ table, key, value }) => JSON.stringify(this.store[table].get(key)) !== JSON.stringify(value),
    );
    return [...gone, ...changed];
  }
}

const formatPlace = ({ table, key }: Pick<Write, 'table' | 'key'>): string => `${table} ${key}`;

/** Key of the number that each repair after a loss increments. */
export const repairKey = 'lossRepair';

/** Returns the last write of each record. Listeners thus receive one write per record. */
function lastOfEach(changes: readonly AccountChange[]): readonly Write[] {
  const [only, ...more] = changes;
  if (only !== undefined && more.length === 0) return only.writes;
  const last = new Map(changes.flatMap(({ writes }) => writes.map((write) => [formatPlace(write), write])));
  return [...last.values()];
}

/** True if a record describes the file of this node, and is not part of the accounts. */
export function isOwn(table: TableName, key: string): boolean {
  return table === 'numbers' && key === 'layout';
}

const allTables = accountTables.join(' ');

/** Returns the state of a new copy of the accounts of a database. */
export function newCopy(engine: string, { position, id }: LogPosition): CopyState {
  return { engine, version: position, change: id, tables: allTables, lossOpen: false };
}
