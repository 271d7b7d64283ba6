import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type {
  Actor,
  ApiKey,
  Application,
  ApplicationKey,
  Deletion,
  FeatureDeclaration,
  MetricDeclaration,
  OAuthClient,
  Team,
  User,
} from '../store/records.ts';
import type { Health } from '../store/transact.ts';
import { system } from './actors.ts';
import { Declarations } from './declarations.ts';
import type { KeyHolder } from './key-holder.ts';
import { KeyIndex } from './key-index.ts';
import { KeyMarks } from './key-marks.ts';
import type { RandomBytes } from './secrets.ts';
import { type Draft, type TableName, Tables, type Write } from './tables.ts';

/** Where the directory gets time and chance from. */
export interface DirectorySources {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Teams, users, applications and keys: read from memory, changed on disk first. The files beside this one hold
 * the changes that can be made (`createApplication`, `deleteKey`, …).
 */
export interface Directory extends DirectorySources {
  readonly teams: ReadonlyMap<string, Team>;
  readonly users: ReadonlyMap<string, User>;
  /** By `clientId`. */
  readonly apiKeys: ReadonlyMap<string, ApiKey>;
  readonly applications: ReadonlyMap<string, Application>;
  /** Those that teams registered, by `clientId`. */
  readonly clients: ReadonlyMap<string, OAuthClient>;
  /** What is to be removed from the disk. */
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** What is declared of an application's features, by name; the same for its metrics. */
  featuresOf(applicationId: string): ReadonlyMap<string, FeatureDeclaration>;
  metricsOf(applicationId: string): ReadonlyMap<string, MetricDeclaration>;
  /** The keys of an application, the oldest first. */
  keysOf(applicationId: string): readonly ApplicationKey[];
  /** When a key was last used, including uses that are not on disk yet. Unix milliseconds. */
  lastUsedAt(key: ApplicationKey): number | null;

  /** When a Backend key was first seen in a packet, including what is not on disk yet. Unix milliseconds. */
  leakedAt(key: ApplicationKey): number | null;

  /** The holder of an application key, by the key's text. On the packet path; any text may be asked for. */
  findKey(text: string): KeyHolder | undefined;
  /** Notes a use of a key, in memory until the next `flush`. */
  markUsed(holder: KeyHolder): void;
  /** Notes, durably and once, that a Backend key came in a packet: it has leaked. */
  markLeaked(holder: KeyHolder): void;
  /** Writes what was marked to disk; to be called now and then, and before the store is closed. Throws as `change` does. */
  flush(): void;

  /** Makes a change durable, then visible, before this returns: see `Tables.change`. */
  change<T>(plan: (draft: Draft) => T): Promise<T>;
  /** The same directory, whose changes are this actor's in the audit log; without it they are the system's. */
  by(actor: Actor): Directory;
}

/**
 * Reads the accounts of a store into memory. There must be one directory at most for each store.
 * @param health hears of changes that the store did not take
 */
export function openDirectory(store: AccountStore, health: Health, sources: DirectorySources): Directory {
  const keys = new KeyIndex();
  const features = new Declarations('features');
  const metrics = new Declarations('metrics');
  const indexes = [keys, features, metrics];
  const index = (writes: readonly Write[]) => {
    for (const each of indexes) each.update(writes);
  };
  const tables = new Tables(store, health, sources.clock, index);
  for (const table of ['applications', 'applicationKeys', 'features', 'metrics'] as const) {
    index(asWrites(tables, table));
  }
  const marks = new KeyMarks(tables, sources.clock);
  const directoryOf = (actor: Actor): Directory => ({
    clock: sources.clock,
    randomBytes: sources.randomBytes,
    teams: tables.of('teams'),
    users: tables.of('users'),
    apiKeys: tables.of('apiKeys'),
    applications: tables.of('applications'),
    clients: tables.of('clients'),
    deletions: tables.of('deletions'),
    featuresOf: (applicationId) => features.of(applicationId),
    metricsOf: (applicationId) => metrics.of(applicationId),
    keysOf: (applicationId) => keys.keysOf(applicationId),
    lastUsedAt: (key) => marks.lastUsedAt(key),
    leakedAt: (key) => marks.leakedAt(key),
    findKey: (text) => keys.find(text),
    markUsed: ({ key }) => marks.used(key.hash),
    markLeaked: ({ key }) => marks.leaked(key.hash),
    flush: () => marks.flush(),
    change: async (plan) => tables.change(actor, plan),
    by: directoryOf,
  });
  return directoryOf(system);
}

function asWrites(tables: Tables, table: TableName): Write[] {
  return Array.from(tables.of(table), ([key, value]) => ({ table, key, value }));
}
