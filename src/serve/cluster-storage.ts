import { hostname } from 'node:os';
import { setTimeout as rest } from 'node:timers/promises';
import { version } from '../../package.json' with { type: 'json' };
import type { AccountStore } from '../accounts/store/account-store.ts';
import { prepareRepair } from '../auth/after-loss.ts';
import { joinPostgres } from '../replication/accounts/join-postgres.ts';
import { PostgresAccountStore } from '../replication/accounts/postgres.ts';
import { SetAside } from '../replication/adoption/set-aside.ts';
import { ClusterUsage } from '../replication/cluster-usage.ts';
import { checkSamePostgres } from '../replication/postgres/checks.ts';
import { Connection } from '../replication/postgres/connection.ts';
import type { PostgresKey } from '../replication/postgres/postgres-key.ts';
import type { PostgresAddress } from '../replication/postgres/postgres-url.ts';
import { maxSkewMs, SharedClock } from '../replication/postgres/shared-clock.ts';
import { Spool } from '../replication/spool.ts';
import { startSpoolCommitter } from '../replication/spool-committer.ts';
import type { TimerClock } from '../runtime/clock.ts';
import { isPresent } from '../runtime/files.ts';
import type { Log } from '../runtime/log.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import { type AccountTables, readCopyState } from '../storage/lmdb/accounts.ts';
import { getDataFile } from '../storage/lmdb/data-directory.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import type { Config } from './config/config.ts';
import { getRetention } from './config/limits.ts';
import { urlsMissing } from './listeners.ts';
import { loadPostgresKey, postgresAddress } from './postgres-connection.ts';
import type { Storage, StorageDeps, UsageStorageDeps } from './storage.ts';

type ClusterDeps = Pick<StorageDeps, 'config' | 'log' | 'clock'> & { readonly toldToStop: Promise<unknown> };

/** Timeout of a statement, ms. */
const deadlineMs = 5000;
/** Maximum time for which startup waits to join the cluster, ms. */
const joinMs = 20_000;
const snapshotBytes = 2 ** 26;

/**
 * Opens a data directory as a node. If the directory is empty, the function waits until PostgreSQL is reachable.
 * @returns the storage and the clock of PostgreSQL; `undefined` if the process must stop
 * @throws {UsageError} for an invalid URL
 * @throws {Error} if the directory, PostgreSQL or the key file is not usable; nothing was written
 */
export async function openCluster(
  deps: ClusterDeps,
): Promise<{ accounts: AccountTables; storage: Storage; clock: TimerClock } | undefined> {
  const { config, log, toldToStop } = deps;
  warnOfOwnAddresses(config, log);
  const link = new PostgresLink(deps);
  let isTold = false;
  let isOpen = false;
  const told = toldToStop.then(async () => {
    isTold = true;
    if (!isOpen) await link.close(); // PostgreSQL might not respond.
    return false;
  });
  const pause = (ms: number) => Promise.race([rest(ms, true, { ref: false }), told]);
  try {
    const accounts = await joinPostgres(config.data, {
      connection: link.connect('reads'),
      key: link.key,
      belongsTo: (databaseId) => {
        link.known = databaseId;
      },
      log,
      pause,
    });
    isOpen = accounts !== undefined && !isTold;
    link.known = accounts && readCopyState(accounts.lmdb)?.engine;
    if (isOpen) return { accounts: accounts!, storage: new ClusterStorage(link), clock: link.clock };
    await accounts?.lmdb.close();
    return undefined;
  } finally {
    if (!isOpen) await link.close();
  }
}

/** Warns if public addresses are not set, because nodes refuse tokens that name the addresses of other nodes. */
function warnOfOwnAddresses(config: Config, log: Log): void {
  const missing = urlsMissing(config, ['auth', 'api']);
  if (missing.length === 0) return;
  const hint = 'give all nodes the same public addresses; otherwise they refuse the tokens of this node';
  log.warn('no public addresses are set: using the addresses of this node', { missing, hint });
}

class PostgresLink {
  readonly address: PostgresAddress;
  readonly name: string;
  readonly clock: SharedClock;
  /** Data from the database; `undefined` before the first connection. */
  found: { readonly id: string; readonly secret: Buffer; readonly stored: string } | undefined;
  /** The database id in the data directory; `undefined` if the directory has none. */
  known: string | undefined;
  readonly #deps: ClusterDeps;
  readonly key: PostgresKey | undefined;
  readonly #connections = new Map<string, Connection>();

  constructor(deps: ClusterDeps) {
    const { config } = deps;
    this.address = postgresAddress(config.postgres!);
    this.name = config.nodeName ?? hostname();
    this.clock = new SharedClock(deps.clock);
    this.#deps = deps;
    this.key = loadPostgresKey(config);
  }

  /** Returns a connection for a purpose. The connection checks that the database is still the same. */
  connect(purpose: string): Connection {
    const known = this.#connections.get(purpose);
    if (known !== undefined) return known;
    const { log } = this.#deps;
    const { clock } = this;
    const name = `flagmeter ${this.name} ${purpose}`;
    const connection = new Connection(this.address, {
      name,
      log,
      clock,
      deadlineMs,
      prepare: async (run) => {
        const facts = await checkSamePostgres(run, this.found?.id ?? this.known, this.key);
        if (this.found === undefined) await clock.ask(run);
        this.found ??= { id: facts.id, secret: facts.digestSecret, stored: facts.secret };
      },
    });
    this.#connections.set(purpose, connection);
    return connection;
  }

  /** Current time of the machine's own clock, Unix ms. */
  machineNow(): number {
    return this.#deps.clock.now();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }
}

class ClusterStorage implements Storage {
  readonly #link: PostgresLink;
  #spool: Spool | undefined;
  #setAside: SetAside | undefined;
  #joining = async () => {};

  constructor(link: PostgresLink) {
    this.#link = link;
  }

  async openAccounts(deps: StorageDeps, health: StoreHealth): Promise<AccountStore> {
    const { config, accounts, log, randomBytes } = deps;
    const { clock } = this.#link;
    const accountStore = new PostgresAccountStore(accounts, {
      health,
      clock,
      log,
      randomBytes,
      reads: this.#link.connect('reads'),
      changes: this.#link.connect('changes'),
      signIns: this.#link.connect('sign-ins'),
      directory: this.#openSpool(deps).directory,
      key: this.#link.key,
      slow: { fromMs: config.slowCommit, log },
      repair: () => prepareRepair(clock, config.signingAlg),
      setAside: () => this.#openSetAside(deps).keep('accounts'),
    });
    const started = accountStore.start();
    if (this.#link.found !== undefined) await started; // If PostgreSQL is unreachable, the node starts anyway.
    return accountStore;
  }

  async openUsage(
    deps: StorageDeps,
    { accountStore, health, findLane, settled }: UsageStorageDeps,
  ): Promise<UsageStore> {
    const { config, workerFile, clock, randomBytes, log, fatal, producers } = deps;
    const spool = this.#openSpool(deps);
    const digestSecret = readDigestSecret(this.#link, spool);
    if (!isPresent(getDataFile(config.data, 'usage')))
      log.warn('no usage store found: loading it from PostgreSQL', { data: config.data });
    const store = openUsageTables(config.data);
    const stream = newId(randomBytes);
    // The time of PostgreSQL is unknown here: it can be up to `maxSkewMs` before the time of this clock.
    const watermark = { at: clock.now() - maxSkewMs, applied: 0, version: accountStore.version };
    const committer = await startSpoolCommitter(
      spool.store,
      { data: config.data, workerFile, randomBytes, clock, log, producers, failed: (error) => health.failed(error) },
      { stream, watermark, maxIdentities: config.maxIdentities },
    );
    await committer.seal({ watermark, onlyNote: true });
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
          postgresId: spool.postgresId,
        },
        settings: selectSharedSettings(config),
        snapshotBytes,
        maxSpoolBytes: config.spoolMax,
        logLevel: config.logLevel,
      },
      spool,
      committer,
      store,
      digestSecret,
      health,
      clock,
      findLane,
      settled,
      fatal,
      setAside: this.#openSetAside(deps),
      shippingMs: (config.shutdownGrace * 1000) / 2,
      accountsVersion: () => accountStore.version,
    });
    this.#joining = () =>
      joinOrCount(usage, this.#link, (reason) => {
        log.error('this node must not continue: stopping', { reason });
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

  #openSetAside({ config, log }: StorageDeps): SetAside {
    this.#setAside ??= new SetAside({ data: config.data, clock: this.#link.clock, log });
    return this.#setAside;
  }

  #openSpool({ config, randomBytes }: StorageDeps): Spool {
    this.#spool ??= new Spool(config.data, () => newId(randomBytes));
    return this.#spool;
  }
}

/** Joins the cluster before the node is ready. If PostgreSQL is unreachable, the node counts first and joins later. */
async function joinOrCount(usage: ClusterUsage, link: PostgresLink, refused: (reason: string) => void): Promise<void> {
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

/** Returns the HMAC key of digests from the database, or its copy in the directory if PostgreSQL is unreachable. */
function readDigestSecret({ found }: PostgresLink, spool: Spool): Buffer {
  const { lmdb, meta } = spool.store;
  if (found !== undefined && (spool.postgresId ?? found.id) === found.id) {
    spool.bindTo(found.id);
    lmdb.transactionSync(() => {
      meta.putSync('secret', found.secret.toString('base64'));
      meta.putSync('stored secret', found.stored); // `postgres adopt` checks the key file with this secret.
    });
  }
  const known = meta.get('secret');
  if (known === undefined)
    throw new Error(
      'Cannot count yet: this node has never reached PostgreSQL; start it again once PostgreSQL is reachable',
    );
  return Buffer.from(known, 'base64');
}

function selectSharedSettings(config: Config) {
  const { maxFeatures, maxVariants, maxMetrics, maxIdentities, exposureDays } = config;
  return {
    features: maxFeatures,
    variants: maxVariants,
    metrics: maxMetrics,
    identities: maxIdentities,
    exposureDays,
    ...getRetention(config),
  };
}

function newId(randomBytes: StorageDeps['randomBytes']): string {
  return randomBytes(16).toString('hex');
}
