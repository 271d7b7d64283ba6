import type { AccountStore } from '../store/accounts.ts';
import type { ApiKey, Application, ApplicationKey, Team, User } from '../store/records.ts';

/** What each table holds, under the key that `AccountStore` names. */
export interface Records {
  teams: Team;
  users: User;
  apiKeys: ApiKey;
  applications: Application;
  applicationKeys: ApplicationKey;
  numbers: number;
}

export type TableName = keyof Records;

/** One record to be kept or, when `value` is `undefined`, removed. */
export interface Write<Name extends TableName = TableName> {
  readonly table: Name;
  readonly key: string;
  readonly value: Records[Name] | undefined;
}

/** The accounts in memory. The disk is always ahead of it: a write is seen here once it is committed. */
export class Tables {
  readonly #store: AccountStore;
  readonly #records: { readonly [Name in TableName]: Map<string, Records[Name]> };
  readonly #onWrites: (writes: readonly Write[]) => void;
  #lastChange: Promise<unknown> = Promise.resolve();

  /** @param onWrites called after each change with what was written, when it can be read here. */
  constructor(store: AccountStore, onWrites: (writes: readonly Write[]) => void) {
    this.#store = store;
    this.#onWrites = onWrites;
    this.#records = {
      teams: load(store, 'teams'),
      users: load(store, 'users'),
      apiKeys: load(store, 'apiKeys'),
      applications: load(store, 'applications'),
      applicationKeys: load(store, 'applicationKeys'),
      numbers: load(store, 'numbers'),
    };
  }

  of<Name extends TableName>(table: Name): ReadonlyMap<string, Records[Name]> {
    return this.#records[table];
  }

  /**
   * Makes a change: `plan` reads the tables and drafts its writes, which are committed in one transaction and
   * then seen here. Changes go one after another, so what a plan has checked still holds when it is committed.
   * Resolves to what the plan gave, when all is on disk.
   * @throws whatever the plan throws and whatever the store rejects with; nothing has changed here then
   */
  change<T>(plan: (draft: Draft) => T): Promise<T> {
    const done = this.#lastChange.then(() => this.#carryOut(plan));
    this.#lastChange = done.catch(() => undefined);
    return done;
  }

  async #carryOut<T>(plan: (draft: Draft) => T): Promise<T> {
    const draft = new Draft(this.#records.numbers);
    const result = plan(draft);
    const { writes } = draft;
    if (writes.length === 0) return result;
    await commit(this.#store, writes);
    for (const { table, key, value } of writes) {
      const records = this.#records[table] as Map<string, unknown>;
      if (value === undefined) records.delete(key);
      else records.set(key, value);
    }
    this.#onWrites(writes);
    return result;
  }
}

/** The writes of one change, gathered while it is planned. */
export class Draft {
  readonly writes: Write[] = [];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #taken = new Map<string, number>();

  constructor(numbers: ReadonlyMap<string, number>) {
    this.#numbers = numbers;
  }

  put<Name extends TableName>(table: Name, key: string, value: Records[Name]): void {
    this.writes.push({ table, key, value });
  }

  remove(table: TableName, key: string): void {
    this.writes.push({ table, key, value: undefined });
  }

  /** The next number of a sequence, from 1 on. None is ever given twice. */
  takeNumber(sequence: 'application' | 'environment' | 'key'): number {
    const number = this.#taken.get(sequence) ?? this.#numbers.get(sequence) ?? 1;
    this.#taken.set(sequence, number + 1);
    this.put('numbers', sequence, number + 1);
    return number;
  }
}

/**
 * Commits writes in one transaction. Resolves when they are on disk: only the
 * promise of the transaction says that, those of the writes in it do not.
 */
export async function commit(store: AccountStore, writes: readonly Write[]): Promise<void> {
  await store.environment.transaction(() => applyTo(store, writes));
}

/** Writes into the store; to be called inside a transaction. */
export function applyTo(store: AccountStore, writes: readonly Write[]): void {
  for (const { table, key, value } of writes) {
    if (value === undefined) store[table].removeSync(key);
    else (store[table] as { putSync(key: string, value: unknown): void }).putSync(key, value);
  }
}

function load<Name extends TableName>(store: AccountStore, table: Name): Map<string, Records[Name]> {
  const records = new Map<string, Records[Name]>();
  for (const { key, value } of store[table].getRange()) records.set(key, value as Records[Name]);
  return records;
}
