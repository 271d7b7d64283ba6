import type { RefusalCode } from '../contract/refusals.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Actor, ApiKey, ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';
import { AccountTransaction, type Announce, findActor, system } from './account-draft.ts';
import type { Accounts } from './accounts.ts';
import { Declarations } from './declarations.ts';
import { completeFeature } from './feature-settings.ts';
import { type KeyHolder, KeyIndex } from './key-index.ts';
import { ApiKeyUses, KeyEvents, type ThreadKeyEvents, type Use } from './key-marks.ts';
import type { RandomBytes } from './secrets.ts';
import { type AccountStore, asWrites, memoryTables, type Write } from './store/account-store.ts';

export interface DirectorySources {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Teams, users, applications and keys on disk, and their changes. The files beside this one define the changes
 * (`createApplication`, `deleteKey`, …).
 */
export interface Directory extends DirectorySources, Accounts {
  /** Unix ms, including uses not on disk yet. */
  lastUsedAt(key: ApplicationKey): number | null;

  /** When a Backend key was first seen in a packet, Unix ms, including leaks not on disk yet. */
  leakedAt(key: ApplicationKey): number | null;

  /** Includes messages not on disk yet. */
  countRefusals(key: ApplicationKey): KeyRefusals | undefined;

  /** The holder of an application key, by the key's text. Called for each packet, with any text. */
  findKey(text: string): KeyHolder | undefined;
  /** In memory until the next `flush`, like refusals. */
  recordUse(holder: KeyHolder): void;
  /** Records once that a packet contained a Backend key: it has leaked. The write to disk has started when this returns. */
  recordLeak(holder: KeyHolder): void;
  /** Records that a message with a key was refused. */
  recordRefusal(holder: KeyHolder, code: RefusalCode): void;
  /** Adds the marks of another thread. */
  addKeyEvents(added: ThreadKeyEvents): void;
  /** Includes uses not on disk yet. */
  findLastUse(apiKey: ApiKey): Use | undefined;
  /** @param subject of the workload that uses it */
  recordApiKeyUse(clientId: string, subject?: string): void;
  /** Writes the recorded uses to disk. Call it periodically, and before closing the store. Rejects as `change` does. */
  flush(): Promise<void>;

  /** Makes a change, which reads the accounts from its draft: see `AccountStore.change`. */
  change<T>(change: (tx: AccountTransaction) => T): Promise<T>;
  /** The same directory, whose changes are made under this authority. By default, the system makes them. */
  under(authority: Authority): Directory;
}

/** Who makes changes, and which ones they may make. */
interface Authority {
  /** The address of the peer. Without it, the same actor as before makes the changes. */
  readonly address?: string;
  /** The id of a user or an API key. Without it, the peer is an unauthenticated caller. */
  readonly id?: string;
  /** Called with the draft of each change, after the checks added earlier. Throws if the change must not be made. */
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
