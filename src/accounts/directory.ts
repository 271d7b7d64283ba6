import type { Clock } from '../runtime/clock.ts';
import type { Actor, ApplicationKey } from '../storage/lmdb/records.ts';
import { AccountDraft } from './account-draft.ts';
import type { Accounts } from './accounts.ts';
import { system } from './actors.ts';
import { Declarations } from './declarations.ts';
import { completeFeature } from './feature-settings.ts';
import type { KeyHolder } from './key-holder.ts';
import { KeyIndex } from './key-index.ts';
import { KeyMarks } from './key-marks.ts';
import type { RandomBytes } from './secrets.ts';
import { type Engine, type MemoryTable, memoryTables, type Write } from './store/engine.ts';
import type { Announce } from './team-events.ts';

/** The directory's sources of time and randomness. */
export interface DirectorySources {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Teams, users, applications and keys on disk, and their changes. The files beside this one define the changes
 * (`createApplication`, `deleteKey`, …).
 */
export interface Directory extends DirectorySources, Accounts {
  /** When a key was last used, including uses not on disk yet. Unix milliseconds. */
  lastUsedAt(key: ApplicationKey): number | null;

  /** When a Backend key was first seen in a packet, including leaks not on disk yet. Unix milliseconds. */
  leakedAt(key: ApplicationKey): number | null;

  /** The holder of an application key, by the key's text. Called for each packet, with any text. */
  findKey(text: string): KeyHolder | undefined;
  /** Records a use of a key, in memory until the next `flush`. */
  markUsed(holder: KeyHolder): void;
  /** Records once that a packet contained a Backend key: it has leaked. The write to disk has started when this returns. */
  markLeaked(holder: KeyHolder): void;
  /** Writes the recorded uses to disk. Call it periodically, and before closing the store. Rejects as `change` does. */
  flush(): Promise<void>;

  /** Makes a change, which reads the accounts from its draft: see `Engine.change`. */
  change<T>(plan: (draft: AccountDraft) => T): Promise<T>;
  /** The same directory, with this actor in the audit log. The default actor is the system. */
  by(actor: Actor): Directory;
}

/** Opens the accounts of an engine. Each engine must have at most one directory. */
export function openDirectory(
  engine: Engine,
  { clock, randomBytes, announce }: DirectorySources & { readonly announce?: Announce },
): Directory {
  const keys = new KeyIndex();
  const features = new Declarations('features', completeFeature);
  const metrics = new Declarations('metrics');
  const index = (writes: readonly Write[]) => {
    for (const each of [keys, features, metrics]) each.update(writes);
  };
  for (const table of memoryTables) index(asWrites(engine, table));
  engine.onCommit(index);
  const byApplication = {
    featuresOf: (applicationId: string) => features.of(applicationId),
    metricsOf: (applicationId: string) => metrics.of(applicationId),
    keysOf: (applicationId: string) => keys.keysOf(applicationId),
  };
  const changeAs =
    (actor: Actor) =>
    <T>(plan: (draft: AccountDraft) => T) =>
      engine.change((draft) =>
        plan(new AccountDraft(draft, byApplication, { actor, at: clock.now() }, announce)),
      );
  const marks = new KeyMarks({
    now: () => clock.now(),
    keyOf: (hash) => engine.get('applicationKeys', hash),
    change: changeAs(system),
  });
  const directoryOf = (actor: Actor): Directory => ({
    clock,
    randomBytes,
    teams: engine.records('teams'),
    users: engine.records('users'),
    apiKeys: engine.records('apiKeys'),
    applications: engine.records('applications'),
    clients: engine.records('clients'),
    webhooks: engine.records('webhooks'),
    deletions: engine.records('deletions'),
    ...byApplication,
    lastUsedAt: (key) => marks.lastUsedAt(key),
    leakedAt: (key) => marks.leakedAt(key),
    findKey: (text) => keys.find(text),
    markUsed: ({ key }) => marks.used(key.hash),
    markLeaked: ({ key }) => void marks.leaked(key.hash),
    flush: () => marks.flush(),
    change: changeAs(actor),
    by: directoryOf,
  });
  return directoryOf(system);
}

function asWrites(engine: Engine, table: MemoryTable): Write[] {
  return Array.from(engine.records(table), ([key, value]) => ({ table, key, value }) as Write);
}
