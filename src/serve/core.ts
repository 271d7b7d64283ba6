import type { AuditExport } from '../accounts/audit-export.ts';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { type PasswordPool, startPasswordPool } from '../accounts/password-pool.ts';
import type { Engine } from '../accounts/store/engine.ts';
import { ClientRates } from '../auth/client-rates.ts';
import { type KeyRing, openKeyRing } from '../auth/key-ring.ts';
import type { ConsoleBundle } from '../console/host/bundle.ts';
import { KeyedLimits } from '../ingest/admission/keyed-limits.ts';
import { LargeBodies } from '../ingest/admission/large-bodies.ts';
import { RateLimits } from '../ingest/admission/rate-limits.ts';
import { UnknownSenders } from '../ingest/admission/unknown-senders.ts';
import type { CountingDeps } from '../ingest/deps.ts';
import { Instances } from '../ingest/identities/instances.ts';
import { Ledger } from '../ingest/ledger/ledger.ts';
import { type DecodePool, startDecodePool } from '../ingest/reports/decode-pool.ts';
import { openReportKinds, type ReportKinds } from '../ingest/reports/kinds.ts';
import { maxSeenMessages, SeenMessages } from '../ingest/seen-messages.ts';
import { Senders } from '../ingest/senders.ts';
import type { SnippetFiles } from '../ingest/telemetry/snippet.ts';
import { type ReportPool, startReportPool } from '../management/report-pool.ts';
import { tellFailure } from '../runtime/background-failure.ts';
import { Histogram } from '../runtime/histogram.ts';
import type { Log } from '../runtime/log.ts';
import type { Schedule } from '../storage/backup/schedule.ts';
import { Intake } from '../storage/commit/intake.ts';
import { tracedLane } from '../storage/commit/lane.ts';
import { SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import type { UsageEngine } from '../storage/commit/usage-engine.ts';
import type { SlowCommits } from '../storage/lmdb/commit-watch.ts';
import { explainDamage } from '../storage/lmdb/data-file.ts';
import type { LmdbEnvironment } from '../storage/lmdb/lmdb.ts';
import { messageLifeMs, messagesSince } from '../storage/lmdb/messages.ts';
import { ReaderWatch } from '../storage/lmdb/reader-watch.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { Retention } from '../storage/lmdb/retention.ts';
import { StoreHealth } from '../storage/lmdb/store-health.ts';
import type { UsageStore } from '../storage/lmdb/usage.ts';
import type { Deliverer } from '../webhooks/deliverer.ts';
import { announcer } from '../webhooks/event-payloads.ts';
import { DiskWatch } from './disk-watch.ts';
import { embeddedStorage } from './embedded-storage.ts';
import { limitsOf, retentionOf } from './limits.ts';
import { openDeliverer } from './open-deliverer.ts';
import { scheduleOf } from './scheduled-backups.ts';
import type { Storage, StorageDeps } from './storage.ts';

/** The parts of the service that differ between a deployment and a test. */
export interface ServiceDeps extends StorageDeps {
  /** The console, as it was built. */
  readonly bundle: ConsoleBundle;
  /** The sender for pages, as it was built. */
  readonly snippet: SnippetFiles;
  /** Where accounts and usage are kept; the data directory, unless given. */
  readonly storage?: Storage;
  /** Copies the audit log to files. */
  readonly audit?: AuditExport | undefined;
}

/** What all listeners share: the stores, the threads, and their state in memory. */
export interface Core extends ServiceDeps {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly usageEngine: UsageEngine;
  /** What reports read. */
  readonly usage: UsageStore;
  readonly health: StoreHealth;
  /** The environments of the stores, by their names. */
  readonly environments: Readonly<Record<string, LmdbEnvironment>>;
  /** Of the stores. */
  readonly readers: readonly ReaderWatch[];
  readonly threads: readonly Thread[];
  /** How late this thread comes to what is due, seconds. */
  readonly mainDelays: Histogram;
  /** Of tokens of the management API. */
  readonly apiRates: KeyedLimits;
  /** Of OAuth clients. */
  readonly clientRates: ClientRates;
  readonly intake: Intake;
  readonly signingKeys: KeyRing;
  readonly counting: CountingDeps;
  readonly instances: Instances;
  readonly decoder: DecodePool;
  readonly reportKinds: ReportKinds;
  readonly retention: Retention;
  readonly reports: ReportPool;
  readonly passwords: PasswordPool;
  /** Delivers to webhooks once its work is started. */
  readonly deliverer: Deliverer;
  /** Whether load balancers are to look elsewhere: the service stops soon. */
  readonly shutdown: { isNear: boolean };
  /** `undefined` unless the server backs itself up. */
  readonly backups: Schedule | undefined;
  readonly disks: DiskWatch;
}

/** A thread, and how late it comes to what is due, seconds. */
export interface Thread {
  readonly name: string;
  readonly delays: Histogram;
}

/** Opens the usage store, starts the worker threads, and reads what is kept in memory. */
export async function openCore(parts: ServiceDeps): Promise<Core> {
  const { config, log, fatal, clock, storage = embeddedStorage() } = parts;
  const health = new StoreHealth({ log, fatal, data: config.data, clock });
  const accounts = await openAccounts({ ...parts, storage }, health);
  const laneOf =
    config.otlpEndpoint === undefined
      ? (application: number) => intake.laneOf(application)
      : (application: number) => tracedLane(intake.laneOf(application));
  const usageEngine = await explainDamage(config.data, 'usage', () =>
    storage.openUsage(parts, { ...accounts, health, laneOf }),
  );
  const intake = new Intake(usageEngine.committers, health, clock, config, {
    log: debugLog(parts),
    slow: slowCommits(parts),
  });
  await storage.ready?.();
  const retention = retentionOf(config);
  const counting = countingParts(parts, { ...accounts, usageEngine, health, intake, laneOf });
  const instances = openInstances(parts, usageEngine);
  const deliverer = openDeliverer(parts, accounts);
  usageEngine.onForgotten(() => instances.readAgain());
  const environments = environmentsOf(parts, usageEngine);
  const reports = startReportPool(parts.workerFile('management/report-worker'), config.data, (error) =>
    health.failed(error),
  );
  const decoder = startDecodePool(parts.workerFile('ingest/reports/decode-worker'), log);
  const mainDelays = new Histogram();
  return {
    ...parts,
    ...accounts,
    usageEngine,
    usage: usageEngine.store,
    health,
    environments,
    readers: Object.entries(environments).map(([name, lmdb]) => new ReaderWatch(name, lmdb, clock, log)),
    mainDelays,
    apiRates: new KeyedLimits(config.apiRate, 2 * config.apiRate),
    clientRates: new ClientRates(config.tokenRate),
    threads: [{ name: 'main', delays: mainDelays }, ...threadsOf(usageEngine, reports)],
    intake,
    counting,
    retention,
    instances,
    decoder,
    reportKinds: openReportKinds({ ...counting, retention, decoder }),
    reports,
    passwords: startPasswordPool(parts.workerFile('accounts/password-worker')),
    deliverer,
    shutdown: { isNear: false },
    backups: scheduleOf(parts),
    disks: new DiskWatch(parts),
  };
}

/** @throws {Error} if they cannot be read; nothing of the storage runs then */
async function openAccounts(
  parts: ServiceDeps & { readonly storage: Storage },
  health: StoreHealth,
): Promise<Pick<Core, 'engine' | 'directory' | 'signingKeys'>> {
  const { storage, config } = parts;
  try {
    return await explainDamage(config.data, 'accounts', async () => {
      const engine = await storage.openEngine(parts, health);
      const directory = openDirectory(engine, { ...parts, announce: announcer(parts.randomBytes) });
      const signingKeys = await openKeyRing({ ...parts, engine, directory }, config.signingAlg);
      return { engine, directory, signingKeys };
    });
  } catch (error) {
    await storage.abandon?.();
    throw error;
  }
}

function environmentsOf(
  { accounts }: ServiceDeps,
  { store, counted }: UsageEngine,
): Readonly<Record<string, LmdbEnvironment>> {
  const own = counted === store ? {} : { spool: counted.lmdb };
  return { accounts: accounts.lmdb, usage: store.lmdb, ...own };
}

/** The threads that others wait for. Those that hash passwords are busy with one by design. */
function threadsOf({ committers, delays = {} }: UsageEngine, reports: ReportPool): readonly Thread[] {
  const committing = committers.flatMap(({ delays, journal }, at) => [
    { name: `commit-${at + 1}`, delays },
    { name: `fold-${at + 1}`, delays: journal?.foldDelays },
  ]);
  const known = committing.filter((thread): thread is Thread => thread.delays !== undefined);
  const others = Object.entries(delays).map(([name, late]) => ({ name, delays: late }));
  return [...known, { name: 'reports', delays: reports.delays }, ...others];
}

/** The log for every commit and request, which costs too much time unless one is debugging; else `undefined`. */
export function debugLog({ config, log }: Pick<ServiceDeps, 'config' | 'log'>): Log | undefined {
  return config.logLevel === 'debug' ? log : undefined;
}

/** From when on the log warns of a commit. */
function slowCommits({ config, log }: Pick<ServiceDeps, 'config' | 'log'>): SlowCommits {
  return { fromMs: config.slowCommit, log };
}

/** Commits what is waiting, ends the threads and closes the stores. */
export async function closeCore(core: Core): Promise<void> {
  core.audit?.close();
  await core.decoder.close();
  await core.intake.close();
  await flushMarks(core);
  await core.engine.close();
  await Promise.all([core.reports.close(), core.passwords.close()]);
  await Promise.all([core.usageEngine.close(), core.accounts.lmdb.close()]);
  await core.storage?.close?.();
}

/** Fails the store when one of its files is no longer where it was opened, as each commit does. */
export function lookAtFiles({ accounts, usage, health }: Core): void {
  try {
    for (const { lmdb } of [accounts, usage]) lmdb.fileIdentity.check();
  } catch (error) {
    health.failed(error);
  }
}

/** Frees the memory of something that was deleted. */
export function forgetDeleted({ counting }: Core, { application, environments, whole }: Deletion): void {
  for (const environment of environments) {
    counting.dictionary.forget(environment);
    counting.senders.forget(environment);
  }
  if (!whole) return;
  counting.rates.forget(application);
  counting.messages.forget(application);
}

/** Writes when keys were last used. A failure loses no other data. */
export async function flushMarks({ directory, log }: Core): Promise<void> {
  try {
    await directory.flush();
  } catch (error) {
    tellFailure(log, 'when keys were last used could not be kept', error);
  }
}

/** Reads the signing keys again, which another process may have rotated. After a failure the known ones stay in use. */
export async function refreshSigningKeys({ signingKeys, log }: Core): Promise<void> {
  try {
    await signingKeys.refresh();
  } catch (error) {
    tellFailure(log, 'the signing keys could not be read again', error);
  }
}

function openInstances({ config, randomBytes }: ServiceDeps, usage: UsageEngine): Instances {
  const { instanceTtl, rotationGrace } = config;
  return new Instances({
    usage,
    randomBytes,
    ttlMs: instanceTtl * 1000,
    graceMs: rotationGrace * 1000,
  });
}

/** What the counting of packets and reports shares, whatever the transport. */
function countingParts(
  { config, clock }: ServiceDeps,
  {
    directory,
    usageEngine,
    health,
    intake,
    laneOf,
  }: Pick<Core, 'directory' | 'usageEngine' | 'health' | 'intake'> & Pick<CountingDeps, 'laneOf'>,
): CountingDeps {
  const { store, counted } = usageEngine;
  const known = messagesSince(counted, clock.now() - messageLifeMs, 2 * maxSeenMessages);
  return {
    clock,
    health,
    usage: usageEngine,
    keys: directory,
    monitor: intake.monitor,
    rates: new RateLimits(config.rate, config.burst),
    unknown: new UnknownSenders(clock.monotonic()),
    bodies: new LargeBodies(config.bodyBudget),
    dictionary: new SeriesDictionary(counted, limitsOf(config)),
    senders: new Senders(),
    messages: new SeenMessages(known),
    ledger: new Ledger({ store, clock, laneOf: (number) => intake.laneOf(number) }),
    laneOf,
    collect: () => intake.collect(),
  };
}
