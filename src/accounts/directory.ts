import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { ApiKey, Application, ApplicationKey, Team, User } from '../store/records.ts';
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
  /** Writes what was marked to disk; to be called now and then, and before the store is closed. */
  flush(): Promise<void>;

  /** Makes a change durable, then visible: see `Tables.change`. */
  change<T>(plan: (draft: Draft) => T): Promise<T>;
}

/** Reads the accounts of a store into memory. There must be one directory at most for each store. */
export function openDirectory(store: AccountStore, sources: DirectorySources): Directory {
  const keys = new KeyIndex();
  const tables = new Tables(store, (writes) => keys.update(writes));
  keys.update([...asWrites(tables, 'applications'), ...asWrites(tables, 'applicationKeys')]);
  const marks = new KeyMarks(tables, sources.clock);
  return {
    ...sources,
    teams: tables.of('teams'),
    users: tables.of('users'),
    apiKeys: tables.of('apiKeys'),
    applications: tables.of('applications'),
    keysOf: (applicationId) => keys.keysOf(applicationId),
    lastUsedAt: (key) => marks.lastUsedAt(key),
    leakedAt: (key) => marks.leakedAt(key),
    findKey: (text) => keys.find(text),
    markUsed: ({ key }) => marks.used(key.hash),
    markLeaked: ({ key }) => marks.leaked(key.hash),
    flush: () => marks.flush(),
    change: (plan) => tables.change(plan),
  };
}

function asWrites(tables: Tables, table: TableName): Write[] {
  return Array.from(tables.of(table), ([key, value]) => ({ table, key, value }));
}
