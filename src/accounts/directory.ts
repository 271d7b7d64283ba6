import type { RefusalCode } from '../contract/refusals.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Actor, ApiKey, ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';
import { AccountDraft, type Announce, actorOf, system } from './account-draft.ts';
import type { Accounts } from './accounts.ts';
import { Declarations } from './declarations.ts';
import { completeFeature } from './feature-settings.ts';
import { type KeyHolder, KeyIndex } from './key-index.ts';
import { ApiKeyMarks, KeyMarks, type ThreadKeyMarks, type Use } from './key-marks.ts';
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
  refusalsOf(key: ApplicationKey): KeyRefusals | undefined;

  /** The holder of an application key, by the key's text. Called for each packet, with any text. */
  findKey(text: string): KeyHolder | undefined;
  /** In memory until the next `flush`, like refusals. */
  markUsed(holder: KeyHolder): void;
  /** Records once that a packet contained a Backend key: it has leaked. The write to disk has started when this returns. */
  markLeaked(holder: KeyHolder): void;
  /** Records that a message with a key was refused. */
  markRefused(holder: KeyHolder, code: RefusalCode): void;
  /** Adds the marks of another thread. */
  addMarks(marks: ThreadKeyMarks): void;
  /** Includes uses not on disk yet. */
  lastUseOf(apiKey: ApiKey): Use | undefined;
  /** @param subject of the workload that uses it */
  markApiKeyUsed(clientId: string, subject?: string): void;
  /** Writes the recorded uses to disk. Call it periodically, and before closing the store. Rejects as `change` does. */
  flush(): Promise<void>;

  /** Makes a change, which reads the accounts from its draft: see `AccountStore.change`. */
  change<T>(plan: (draft: AccountDraft) => T): Promise<T>;
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

type Check = (draft: AccountDraft) => void;

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
    featuresOf: (applicationId: string) => features.of(applicationId),
    metricsOf: (applicationId: string) => metrics.of(applicationId),
    scansOf: (applicationId: string) => scans.of(applicationId),
    keysOf: (applicationId: string) => keys.keysOf(applicationId),
  };
  const changeUnder =
    (actor: Actor, checks: readonly Check[] = []) =>
    <T>(plan: (draft: AccountDraft) => T) =>
      accountStore.change((records) => {
        const draft = new AccountDraft(records, byApplication, { actor, at: clock.now() }, announce);
        for (const check of checks) check(draft);
        return plan(draft);
      });
  const marks = new KeyMarks({
    now: () => clock.now(),
    keyOf: (hash) => accountStore.get('applicationKeys', hash),
    change: changeUnder(system),
  });
  const apiKeyMarks = new ApiKeyMarks({
    now: () => clock.now(),
    keyOf: (clientId) => accountStore.records('apiKeys').get(clientId),
    change: changeUnder(system),
  });
  const accounts = { clock, randomBytes, ...accountsIn(accountStore), ...byApplication };
  const directoryOf = (actor: Actor, checks: readonly Check[] = []): Directory => ({
    ...accounts,
    lastUsedAt: (key) => marks.lastUsedAt(key),
    leakedAt: (key) => marks.leakedAt(key),
    refusalsOf: (key) => marks.refusalsOf(key),
    findKey: (text) => keys.find(text),
    markUsed: ({ key }) => marks.used(key.hash),
    markLeaked: ({ key }) => void marks.leaked(key.hash),
    markRefused: ({ key }, code) => marks.refused(key.hash, code),
    addMarks: (added) => marks.add(added),
    lastUseOf: (apiKey) => apiKeyMarks.lastUse(apiKey),
    markApiKeyUsed: (clientId, subject) => apiKeyMarks.used(clientId, subject),
    flush: () => marks.flush().then(() => apiKeyMarks.flush()),
    change: changeUnder(actor, checks),
    under: ({ address, id, check }) =>
      directoryOf(
        address === undefined ? actor : actorOf(accounts, id, address),
        check === undefined ? checks : [...checks, check],
      ),
  });
  return directoryOf(system);
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
