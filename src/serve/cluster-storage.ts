import { hostname } from 'node:os';
import { setTimeout as rest } from 'node:timers/promises';
import { version } from '../../package.json' with { type: 'json' };
import type { AccountStore } from '../accounts/store/account-store.ts';
import { planAfterLoss } from '../auth/after-loss.ts';
import { joinPostgres } from '../replication/accounts/join-postgres.ts';
import { PostgresAccountStore } from '../replication/accounts/postgres.ts';
import { SetAside } from '../replication/adoption/set-aside.ts';
import { ClusterUsage } from '../replication/cluster-usage.ts';
import { Connection } from '../replication/postgres/connection.ts';
import { checkSamePostgres } from '../replication/postgres/layout.ts';
import type { PostgresKey } from '../replication/postgres/postgres-key.ts';
import type { PostgresAddress } from '../replication/postgres/postgres-url.ts';
import { maxSkewMs, SharedClock } from '../replication/postgres/shared-clock.ts';
import { Spool } from '../replication/spool.ts';
import { startSpoolCommitter } from '../replication/spool-committer.ts';
import type { TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import { readCopyState } from '../storage/lmdb/copy-state.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import type { Config } from './config.ts';
import { retentionOf } from './limits.ts';
import { postgresAddress, postgresKeyOf } from './postgres-connection.ts';
import { urlsMissing } from './public-urls.ts';
import type { Opened, Storage, StorageDeps } from './storage.ts';

/** What opening a node needs before its accounts are open. */
export type ClusterDeps = Pick<StorageDeps, 'config' | 'log' | 'clock'> & {
  /** Resolves when the process is told to stop. */
  readonly toldToStop: Promise<unknown>;
};

/** A node that may use its directory with its engine. */
export interface OpenedCluster {
  readonly accounts: AccountTables;
  readonly storage: Storage;
  /** PostgreSQL's: the service reads no other. */
  readonly clock: TimerClock;
}

/** From a statement to its answer. */
const deadlineMs = 5000;
/** A node that has found its engine joins it before it says that it is ready. */
const joinMs = 20_000;
const snapshotBytes = 2 ** 26;

/**
 * Opens a data directory as a node of an engine. An empty one waits for the engine.
 * @returns `undefined` when the process was told to stop meanwhile
 * @throws {UsageError} for a URL that is wrong
 * @throws {Error} when the directory, the engine or the key file must not be used; it says why, and nothing is written
 */
export async function openCluster(deps: ClusterDeps): Promise<OpenedCluster | undefined> {
  const { config, log, toldToStop } = deps;
  warnOfOwnAddresses(config, log);
  const key = postgresKeyOf(config);
  const link = new PostgresLink(deps, key);
  let isTold = false;
  let isOpen = false;
  const told = toldToStop.then(async () => {
    isTold = true;
    if (!isOpen) await link.close(); // A server that does not answer is not waited for.
    return false;
  });
  const pause = (ms: number) => Promise.race([rest(ms, true, { ref: false }), told]);
  try {
    const accounts = await joinPostgres(config.data, { connection: link.connect('reads'), key, log, pause });
    isOpen = accounts !== undefined && !isTold;
    link.known = accounts && readCopyState(accounts.lmdb)?.engine;
    if (isOpen) return { accounts: accounts!, storage: new ClusterStorage(link, key), clock: link.clock };
    await accounts?.lmdb.close();
    return undefined;
  } finally {
    if (!isOpen) await link.close();
  }
}

/** By default a node's addresses are its own, and tokens name them: other nodes would refuse its tokens. */
function warnOfOwnAddresses(config: Config, log: Log): void {
  const missing = urlsMissing(config, ['auth', 'api']);
  if (missing.length === 0) return;
  const hint = 'give each node the same public addresses, or others refuse the tokens that it issues';
  log.warn('this node has public addresses of its own', { missing, hint });
}

/** The sessions of the main thread with the engine, and what the engine has said of itself. */
class PostgresLink {
  readonly address: PostgresAddress;
  readonly name: string;
  readonly clock: SharedClock;
  /** What the engine says of itself; `undefined` as long as it was away. */
  found: { readonly id: string; readonly secret: Buffer; readonly stored: string } | undefined;
  /** The engine of the data directory; `undefined` when it has none yet. */
  known: string | undefined;
  readonly #deps: ClusterDeps;
  readonly #key: PostgresKey | undefined;
  readonly #connections = new Map<string, Connection>();

  constructor(deps: ClusterDeps, key: PostgresKey | undefined) {
    const { config } = deps;
    this.address = postgresAddress(config.postgres!);
    this.name = config.nodeName ?? hostname();
    this.clock = new SharedClock(deps.clock);
    this.#deps = deps;
    this.#key = key;
  }

  /** The session of this purpose. Each new one checks the engine before anyone uses it. */
  connect(purpose: string): Connection {
    const known = this.#connections.get(purpose);
    if (known !== undefined) return known;
    const { log } = this.#deps;
    const { clock } = this;
    const name = `flagmeter ${this.name} ${purpose}`;
    const connection = new Connection(this.address, {
      ...{ name, log, clock, deadlineMs },
      prepare: async (run) => {
        const facts = await checkSamePostgres(run, this.found?.id ?? this.known, this.#key);
        if (this.found === undefined) await clock.ask(run);
        this.found ??= { id: facts.id, secret: facts.digestSecret, stored: facts.secret };
      },
    });
    this.#connections.set(purpose, connection);
    return connection;
  }

  /** By the machine's own clock, Unix ms. */
  machineNow(): number {
    return this.#deps.clock.now();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }
}

/** Several machines: accounts are those of the engine, and usage is what its log says. */
class ClusterStorage implements Storage {
  readonly #link: PostgresLink;
  readonly #key: PostgresKey | undefined;
  #spool: Spool | undefined;
  #setAside: SetAside | undefined;
  #joining = async () => {};

  constructor(link: PostgresLink, key: PostgresKey | undefined) {
    this.#link = link;
    this.#key = key;
  }

  async openAccounts(parts: StorageDeps, health: StoreHealth): Promise<AccountStore> {
    const { config, accounts, log, randomBytes } = parts;
    const { clock } = this.#link;
    const accountStore = new PostgresAccountStore(accounts, {
      ...{ health, clock, log, randomBytes },
      reads: this.#link.connect('reads'),
      changes: this.#link.connect('changes'),
      signIns: this.#link.connect('sign-ins'),
      directory: this.#openSpool(parts).directory,
      key: this.#key,
      slow: { fromMs: config.slowCommit, log },
      repair: () => planAfterLoss(clock, config.signingAlg),
      setAside: () => this.#setAsideOf(parts).keep('accounts'),
    });
    const started = accountStore.start();
    if (this.#link.found !== undefined) await started; // Else it begins to count at once.
    return accountStore;
  }

  async openUsage(parts: StorageDeps, { accountStore, health, laneOf }: Opened): Promise<UsageStore> {
    const { config, workerFile, clock, randomBytes, log, fatal } = parts;
    const spool = this.#openSpool(parts);
    const digestSecret = secretOf(this.#link, spool);
    const store = openUsageTables(config.data);
    const stream = newId(randomBytes);
    // The engine's clock may be behind by so much: it is not known yet.
    const mark = { at: clock.now() - maxSkewMs, applied: 0, version: accountStore.version };
    const committer = await startSpoolCommitter(
      spool.store,
      {
        ...{ data: config.data, workerFile, randomBytes, clock, log },
        failed: (error) => health.failed(error),
      },
      { stream, mark, maxIdentities: config.maxIdentities, maxBytes: config.spoolMax },
    );
    await committer.seal({ mark, onlyNote: true });
    const usage = new ClusterUsage({
      workerFile: workerFile('replication/replica-worker'),
      start: {
        data: config.data,
        address: this.#link.address,
        keyFile: config.postgresKeyFile,
        facts: {
          directory: spool.directory,
          path: config.data,
          name: this.#link.name,
          version,
          stream,
          started: this.#link.machineNow(),
          engine: spool.engine,
        },
        settings: settingsOf(config),
        snapshotBytes,
        maxSpoolBytes: config.spoolMax,
        logLevel: config.logLevel,
      },
      ...{ spool, committer, store, digestSecret, health, clock, laneOf, fatal },
      setAside: this.#setAsideOf(parts),
      shippingMs: (config.shutdownGrace * 1000) / 2,
      accountsVersion: () => accountStore.version,
    });
    this.#joining = () =>
      joinOrCount(usage, this.#link, (reason) => {
        log.error('this node must not go on: stopping', { reason });
        fatal(reason);
      });
    return usage;
  }

  ready(): Promise<void> {
    return this.#joining();
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  #setAsideOf({ config, log }: StorageDeps): SetAside {
    this.#setAside ??= new SetAside({ data: config.data, clock: this.#link.clock, log });
    return this.#setAside;
  }

  #openSpool({ config, randomBytes }: StorageDeps): Spool {
    this.#spool ??= new Spool(config.data, () => newId(randomBytes));
    return this.#spool;
  }
}

/** A node joins before it is ready; while the engine is away it counts, and joins later. */
async function joinOrCount(
  usage: ClusterUsage,
  link: PostgresLink,
  refused: (reason: string) => void,
): Promise<void> {
  try {
    if (link.found !== undefined && (await usage.joined(joinMs))) return;
  } catch (error) {
    for (const committer of usage.committers) await committer.close();
    await usage.close();
    await link.close();
    throw error;
  }
  usage.joined(2 ** 31 - 1).catch((error: Error) => refused(error.message));
}

/** The HMAC key of digests is the engine's. A prepared directory remembers it, since it counts without the engine, too. */
function secretOf({ found }: PostgresLink, spool: Spool): Buffer {
  const { lmdb, meta } = spool.store;
  if (found !== undefined && (spool.engine ?? found.id) === found.id) {
    spool.bindTo(found.id);
    lmdb.transactionSync(() => {
      meta.putSync('secret', found.secret.toString('base64'));
      meta.putSync('stored secret', found.stored); // By it, adopt knows the key file.
    });
  }
  const known = meta.get('secret');
  if (known === undefined)
    throw new Error(
      'Cannot count yet: this node has never reached the engine; start it again once it answers',
    );
  return Buffer.from(known, 'base64');
}

function settingsOf(config: Config) {
  const { maxFeatures, maxVariants, maxMetrics, maxIdentities, exposureDays } = config;
  return {
    features: maxFeatures,
    variants: maxVariants,
    metrics: maxMetrics,
    identities: maxIdentities,
    exposureDays,
    ...retentionOf(config),
  };
}

function newId(randomBytes: StorageDeps['randomBytes']): string {
  return randomBytes(16).toString('hex');
}
