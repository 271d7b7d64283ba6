import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type {
  Actor,
  ApiKey,
  Application,
  ApplicationKey,
  AuditEntry,
  Deletion,
  FeatureDeclaration,
  MetricDeclaration,
  OAuthClient,
  Team,
  User,
} from '../store/records.ts';
import { commit, type Health } from '../store/transact.ts';

/** What each table holds, under the key that `AccountStore` names. */
export interface Records {
  teams: Team;
  users: User;
  apiKeys: ApiKey;
  applications: Application;
  applicationKeys: ApplicationKey;
  clients: OAuthClient;
  features: FeatureDeclaration;
  metrics: MetricDeclaration;
  deletions: Deletion;
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
  readonly #health: Health;
  readonly #clock: Clock;
  readonly #records: { readonly [Name in TableName]: Map<string, Records[Name]> };
  readonly #onWrites: (writes: readonly Write[]) => void;

  /** @param onWrites called after each change with what was written, when it can be read here. */
  constructor(
    store: AccountStore,
    health: Health,
    clock: Clock,
    onWrites: (writes: readonly Write[]) => void,
  ) {
    this.#store = store;
    this.#health = health;
    this.#clock = clock;
    this.#onWrites = onWrites;
    this.#records = {
      teams: load(store, 'teams'),
      users: load(store, 'users'),
      apiKeys: load(store, 'apiKeys'),
      applications: load(store, 'applications'),
      applicationKeys: load(store, 'applicationKeys'),
      clients: load(store, 'clients'),
      features: load(store, 'features'),
      metrics: load(store, 'metrics'),
      deletions: load(store, 'deletions'),
      numbers: load(store, 'numbers'),
    };
  }

  of<Name extends TableName>(table: Name): ReadonlyMap<string, Records[Name]> {
    return this.#records[table];
  }

  /**
   * Makes a change: `plan` reads the tables and drafts its writes, which are committed in one transaction and
   * then seen here. Nothing comes in between, so what a plan has checked still holds when it is committed. Gives what
   * the plan gave, when all is on disk.
   * @param actor who makes it, for the audit log
   * @throws {ApiError} `store_unavailable`; nothing has changed here then
   * @throws whatever the plan throws
   */
  change<T>(actor: Actor, plan: (draft: Draft) => T): T {
    const draft = new Draft(this.#records.numbers);
    const result = plan(draft);
    const entries = draft.entries(actor, this.#clock.now());
    const { writes } = draft;
    if (writes.length === 0) return result;
    commit(this.#store.lmdb, this.#health, () => {
      applyTo(this.#store, writes);
      for (const entry of entries) this.#store.audit.putSync(auditKey(entry.number), entry);
    });
    for (const { table, key, value } of writes) {
      const records = this.#records[table] as Map<string, unknown>;
      if (value === undefined) records.delete(key);
      else records.set(key, value);
    }
    this.#onWrites(writes);
    return result;
  }
}

/** What is numbered, each in its own sequence. */
export type Sequence =
  | 'application'
  | 'environment'
  | 'key'
  | 'team'
  | 'user'
  | 'apiKey'
  | 'client'
  | 'feature'
  | 'metric'
  | 'audit';

/** The key of an entry of the audit log: in the order of the numbers. */
export function auditKey(number: number): string {
  return String(number).padStart(16, '0');
}

/** The writes of one change, gathered while it is planned. */
export class Draft {
  readonly writes: Write[] = [];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #taken = new Map<string, number>();
  readonly #notes: Omit<AuditEntry, 'number' | 'at' | 'actor'>[] = [];

  constructor(numbers: ReadonlyMap<string, number>) {
    this.#numbers = numbers;
  }

  put<Name extends TableName>(table: Name, key: string, value: Records[Name]): void {
    this.writes.push({ table, key, value });
  }

  remove(table: TableName, key: string): void {
    this.writes.push({ table, key, value: undefined });
  }

  /**
   * Says what the change does, for the audit log.
   * @param action such as `application.created`
   * @param teamId the team that may read it
   */
  note(action: string, teamId: string | null, target: AuditEntry['target']): void {
    this.#notes.push({ action, teamId, target });
  }

  /** What was noted, as entries of the audit log; `at` in Unix ms. To be called once, when the plan is made. */
  entries(actor: Actor, at: number): AuditEntry[] {
    return this.#notes.map((note) => ({ number: this.takeNumber('audit'), at, actor, ...note }));
  }

  /** The next number of a sequence, from 1 on. None is ever given twice. */
  takeNumber(sequence: Sequence): number {
    const number = this.#taken.get(sequence) ?? this.#numbers.get(sequence) ?? 1;
    this.#taken.set(sequence, number + 1);
    this.put('numbers', sequence, number + 1);
    return number;
  }
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
