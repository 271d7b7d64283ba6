import type { RefusalCode } from '../contract/refusals.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Actor, ApiKey, ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';
import { AccountTransaction, type Announce, findActor, system } from './account-transaction.ts';
import type { Accounts } from './accounts.ts';
import { Declarations } from './declarations.ts';
import { completeFeature } from './feature-settings.ts';
import { ApiKeyUses, KeyEvents, type ThreadKeyEvents, type Use } from './key-events.ts';
import { type KeyHolder, KeyIndex } from './key-index.ts';
import type { RandomBytes } from './secrets.ts';
import { type AccountStore, asWrites, memoryTables, type Write } from './store/account-store.ts';

export interface DirectorySources {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Reads the committed teams, users, applications and keys, and runs changes. Other files of this folder define the
 * changes (`createApplication`, `deleteKey`, …).
 */
export interface Directory extends DirectorySources, Accounts {
  /** Time of the last use, Unix ms, including uses not on disk yet. */
  lastUsedAt(key: ApplicationKey): number | null;

  /** Time of the first packet with a Backend key, Unix ms, including leaks not on disk yet. */
  leakedAt(key: ApplicationKey): number | null;

  /** Counts refused messages, including messages not on disk yet. */
  countRefusals(key: ApplicationKey): KeyRefusals | undefined;

  /** Finds the holder of an application key by the key's text. Called for each packet, with any text. */
  findKey(text: string): KeyHolder | undefined;
  /** Records a use of a key. Uses and refusals stay in memory until the next `flush`. */
  recordUse(holder: KeyHolder): void;
  /** Records that a packet contained a Backend key, once for each key. Starts the write to disk before it returns. */
  recordLeak(holder: KeyHolder): void;
  /** Records that a message with a key was refused. */
  recordRefusal(holder: KeyHolder, code: RefusalCode): void;
  /** Adds the events of another thread. */
  addKeyEvents(added: ThreadKeyEvents): void;
  /** Finds the last use, including uses not on disk yet. */
  findLastUse(apiKey: ApiKey): Use | undefined;
  /** @param subject subject of the workload that uses the API key */
  recordApiKeyUse(clientId: string, subject?: string): void;
  /** Writes the recorded uses to disk. Call it periodically, and before closing the store. Rejects as `change` does. */
  flush(): Promise<void>;

  /** Runs a change on a transaction: see `AccountStore.change`. */
  change<T>(change: (tx: AccountTransaction) => T): Promise<T>;
  /** Returns a directory whose changes have this authority. By default, the actor of changes is the system. */
  under(authority: Authority): Directory;
}

/** The actor of changes, and the check of their permission. */
interface Authority {
  /** The network address of the actor. If it is absent, `id` is ignored and the actor stays the same. */
  readonly address?: string;
  /** The id of a user or an API key. Absent for an unauthenticated caller. */
  readonly id?: string;
  /** Called with the transaction of each change, after the checks of outer authorities. Throws if not permitted. */
  readonly check?: Check;
}

type Check = (tx: AccountTransaction) => void;

export function openDirectory(
  accountStore: AccountStore,
  { clock, randomBytes, announce }: DirectorySources & { readonly announce?: Announce },
): Directory {
  const keys = new KeyIndex(() => clock.now());
  const features = new Declarations('features', completeFeature);
  const metrics = new Declarations('metrics');
  const scans = new Declarations('codeScans');
  const index = (writes: readonly Write[]) =>
    [keys, features, metrics, scans].forEach((each) => void each.update(writes));
  for (const table of memoryTables) index(asWrites(accountStore, table));
  accountStore.onCommit(index);
  const byApplication = {
    getFeatures: (applicationId: string) => features.of(applicationId),
    getMetrics: (applicationId: string) => metrics.of(applicationId),
    getScans: (applicationId: string) => scans.of(applicationId),
    getApplicationKeys: (applicationId: string) => keys.listKeys(applicationId),
  };
  const changeUnder =
    (actor: Actor, checks: readonly Check[] = []) =>
    <T>(change: (tx: AccountTransaction) => T) =>
      accountStore.change((records) => {
        const tx = new AccountTransaction(records, byApplication, { actor, at: clock.now() }, announce);
        for (const check of checks) check(tx);
        return change(tx);
      });
  const keyEvents = new KeyEvents({
    now: () => clock.now(),
    findKey: (hash) => accountStore.get('applicationKeys', hash),
    change: changeUnder(system),
  });
  const apiKeyUses = new ApiKeyUses({
    now: () => clock.now(),
    findKey: (clientId) => accountStore.records('apiKeys').get(clientId),
    change: changeUnder(system),
  });
  const accounts = { clock, randomBytes, ...accountsIn(accountStore), ...byApplication };
  const createDirectory = (actor: Actor, checks: readonly Check[] = []): Directory => ({
    ...accounts,
    lastUsedAt: (key) => keyEvents.lastUsedAt(key),
    leakedAt: (key) => keyEvents.leakedAt(key),
    countRefusals: (key) => keyEvents.countRefusals(key),
    findKey: (text) => keys.find(text),
    recordUse: ({ key }) => keyEvents.used(key.hash),
    recordLeak: ({ key }) => void keyEvents.leaked(key.hash),
    recordRefusal: ({ key }, code) => keyEvents.refused(key.hash, code),
    addKeyEvents: (added) => keyEvents.add(added),
    findLastUse: (apiKey) => apiKeyUses.lastUse(apiKey),
    recordApiKeyUse: (clientId, subject) => apiKeyUses.used(clientId, subject),
    flush: () => keyEvents.flush().then(() => apiKeyUses.flush()),
    change: changeUnder(actor, checks),
    under: ({ address, id, check }) =>
      createDirectory(
        address === undefined ? actor : findActor(accounts, id, address),
        check === undefined ? checks : [...checks, check],
      ),
  });
  return createDirectory(system);
}

function accountsIn(accountStore: AccountStore) {
  return {
    teams: accountStore.records('teams'),
    users: accountStore.records('users'),
    apiKeys: accountStore.records('apiKeys'),
    applications: accountStore.records('applications'),
    clients: accountStore.records('clients'),
    webhooks: accountStore.records('webhooks'),
    identityProviders: accountStore.records('identityProviders'),
    deletions: accountStore.records('deletions'),
  };
}
