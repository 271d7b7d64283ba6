import { version } from '../../package.json' with { type: 'json' };
import type { AuditExport } from '../accounts/audit-export.ts';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { type PasswordPool, startPasswordPool } from '../accounts/password-pool.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import { ClientRates } from '../auth/oauth/clients.ts';
import { type KeyRing, openKeyRing } from '../auth/oauth/key-ring.ts';
import { Issuers } from '../auth/sso/issuers.ts';
import { ProviderClient } from '../auth/sso/provider-client.ts';
import { Providers } from '../auth/sso/providers.ts';
import type { ConsoleBundle } from '../console/host/pages.ts';
import { resolver } from '../http/outbound/addresses.ts';
import { type OutboundFetch, outboundFetch } from '../http/outbound/fetch.ts';
import { LargeBodies } from '../ingest/admission/large-bodies.ts';
import { KeyedLimits, RateLimits, UnknownSenders } from '../ingest/admission/rate-limits.ts';
import { SharedRateLimits } from '../ingest/admission/shared-rate-limits.ts';
import { type CountingDeps, maxSeenMessages, SeenMessages } from '../ingest/count-once.ts';
import { type DecodePool, startDecodePool } from '../ingest/formats/decode-pool.ts';
import type { FormatDeps } from '../ingest/formats/formats.ts';
import { Instances, type InstanceThreads } from '../ingest/formats/identities/instances.ts';
import { openReportKinds, type ReportKinds } from '../ingest/formats/reports/kinds.ts';
import type { SnippetFiles } from '../ingest/formats/telemetry/snippet.ts';
import { Ledger } from '../ingest/ledger/ledger.ts';
import { Senders } from '../ingest/senders.ts';
import { openReportPool, type ReportPool } from '../reports/report-pool.ts';
import type { Clock } from '../runtime/clock.ts';
import { logFailure } from '../runtime/failures.ts';
import { Histogram } from '../runtime/histogram.ts';
import { readBackupKey } from '../storage/backup/backup-key.ts';
import { BackupThread, Schedule } from '../storage/backup/schedule.ts';
import { Intake, type IntakeOptions } from '../storage/commit/intake.ts';
import { tracedLane } from '../storage/commit/lane.ts';
import { SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';
import { explainDamage } from '../storage/lmdb/data-directory.ts';
import type { LmdbEnvironment } from '../storage/lmdb/lmdb.ts';
import { messageLifeMs, messagesSince } from '../storage/lmdb/messages.ts';
import { ReaderWatch, StoreHealth } from '../storage/lmdb/store-health.ts';
import { Deliverer } from '../webhooks/deliverer.ts';
import { announcer } from '../webhooks/queue.ts';
import { send } from '../webhooks/send.ts';
import type { Config } from './config/config.ts';
import { getRetention, getS3Settings, getSeriesLimits } from './config/limits.ts';
import { DiskWatch } from './disk-watch.ts';
import type { FrontThreads } from './front/front-threads.ts';
import { embeddedStorage, type Storage, type StorageDeps } from './storage.ts';

/** The parts of the service that differ between a deployment and a test. */
export interface ServiceDeps extends StorageDeps {
  readonly bundle: ConsoleBundle;
  readonly snippet: SnippetFiles;
  /** The storage; by default, the data directory. */
  readonly storage?: Storage;
  /** Copies the audit log to files. */
  readonly audit?: AuditExport | undefined;
}

interface CoreDeps extends ServiceDeps {
  readonly front: FrontThreads;
}

/** The parts that all listeners share. */
export interface Core extends CoreDeps {
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly signingKeys: KeyRing;
  readonly usageStore: UsageStore;
  /** The usage store, from which reports are computed. */
  readonly usage: UsageStore['store'];
  readonly health: StoreHealth;
  /** The LMDB environments of the stores, by name. */
  readonly environments: Readonly<Record<string, LmdbEnvironment>>;
  readonly readers: readonly ReaderWatch[];
  /** Delays of due tasks in the main thread, in seconds. */
  readonly mainDelays: Histogram;
  /** The threads that other threads wait for, with the delays of their event loops. */
  readonly threads: readonly { readonly name: string; readonly delays: Histogram }[];
  readonly apiRates: KeyedLimits;
  readonly clientRates: ClientRates;
  readonly intake: Intake;
  readonly counting: CountingDeps;
  readonly retention: Retention;
  readonly instances: Instances;
  readonly decoder: DecodePool;
  readonly reportKinds: ReportKinds;
  readonly reports: ReportPool;
  readonly passwords: PasswordPool;
  readonly deliverer: Deliverer;
  /** Fetches documents from issuers that administrators have entered. */
  readonly fetchFromIssuer: OutboundFetch;
  readonly issuers: Issuers;
  readonly providers: Providers;
  readonly providerClient: ProviderClient;
  /** `isNear` is true when the service is about to stop. Load balancers then use another server. */
  readonly shutdown: { isNear: boolean };
  readonly backups: Schedule | undefined;
  readonly disks: DiskWatch;
}

/** Opens the usage store, starts the worker threads, and reads the data that is kept in memory. */
export async function openCore(given: CoreDeps): Promise<Core> {
  const deps = { ...given, producers: given.front.count };
  const { config, log, fatal, clock, front, storage = embeddedStorage() } = deps;
  const changed = () => front.publishAdmission();
  const health = new StoreHealth({ log, fatal, data: config.data, clock, changed });
  const accounts = await openAccounts({ ...deps, storage }, health);
  const findLane = laneFinder(config, () => intake);
  let settledHere = async () => {}; // Replaced below, once the journal lanes exist.
  const settled = async () => void (await Promise.all([settledHere(), front.settled()]));
  const usageStore = await explainDamage(config.data, 'usage', () =>
    storage.openUsage(deps, { ...accounts, health, findLane, settled }),
  );
  const intake = new Intake(usageStore.committers, health, clock, config, intakeOptions(deps));
  settledHere = () => intake.settled();
  await storage.ready?.();
  const failed = (error: unknown) => log.error('the report thread failed', { error });
  const reports = openReportPool(deps.workerFile('reports/report-worker'), config.data, failed);
  const retention = getRetention(config);
  const counting = createCountingServices(deps, { ...accounts, usageStore, health, intake, findLane });
  const instances = openInstances(deps, usageStore);
  usageStore.onForgotten(() => instances.readAgain());
  const environments = listLmdbEnvironments(deps, usageStore);
  const readers = Object.entries(environments).map(([name, lmdb]) => new ReaderWatch(name, lmdb, clock, log));
  const decoder = startDecodePool(deps.workerFile('ingest/formats/decode-worker'), log);
  const mainDelays = new Histogram();
  return {
    ...deps,
    ...accounts,
    usageStore,
    usage: usageStore.store,
    health,
    environments,
    readers,
    mainDelays,
    threads: [{ name: 'main', delays: mainDelays }, ...front.delays, ...listThreads(usageStore, reports)],
    apiRates: new KeyedLimits(config.apiRate, 2 * config.apiRate),
    clientRates: new ClientRates(config.tokenRate),
    intake,
    counting,
    retention,
    instances,
    decoder,
    reportKinds: openReportKinds({ ...counting, retention, decoder }),
    reports,
    passwords: startPasswordPool(deps.workerFile('accounts/password-worker')),
    deliverer: openDeliverer(deps, accounts),
    ...createIssuerServices(config, clock, accounts.directory),
    shutdown: { isNear: false },
    backups: createSchedule(deps),
    disks: new DiskWatch(deps),
  };
}

export function formatDeps({ config, counting, usage, directory, log, ...core }: Core): FormatDeps {
  const { retention, instances, decoder, reportKinds, snippet } = core;
  const { maxBody, maxReport } = config;
  const { getMetrics } = directory;
  const onError = (error: unknown) => log.error('a call failed', { error });
  const services = { ...counting, retention, instances, decoder, reportKinds, snippet, getMetrics };
  return { ...services, store: usage, maxBody, maxReport, onError };
}

function intakeOptions({ config, front, log }: CoreDeps): IntakeOptions {
  // Logging every commit is slow, so it is for debugging only.
  const debug = config.logLevel === 'debug' ? log : undefined;
  return { log: debug, slow: { fromMs: config.slowCommit, log }, others: front.queues };
}

/** Returns a function that finds the queue (lane) of an application's packets. With a collector, it records spans. */
function laneFinder({ otlpEndpoint }: Config, intake: () => Intake) {
  const findLane = (application: number) => intake().findLane(application);
  return otlpEndpoint === undefined ? findLane : (application: number) => tracedLane(findLane(application));
}

/** @throws {Error} if the accounts cannot be read. The storage is then closed */
async function openAccounts(deps: ServiceDeps & { readonly storage: Storage }, health: StoreHealth) {
  const { storage, config } = deps;
  try {
    return await explainDamage(config.data, 'accounts', async () => {
      const accountStore = await storage.openAccounts(deps, health);
      const directory = openDirectory(accountStore, { ...deps, announce: announcer(deps.randomBytes) });
      const signingKeys = await openKeyRing({ ...deps, accountStore, directory }, config.signingAlg);
      return { accountStore, directory, signingKeys };
    });
  } catch (error) {
    await storage.abandon?.();
    throw error;
  }
}

function listLmdbEnvironments(
  { accounts }: ServiceDeps,
  { store, counted }: UsageStore,
): Readonly<Record<string, LmdbEnvironment>> {
  const own = counted === store ? {} : { spool: counted.lmdb };
  return { accounts: accounts.lmdb, usage: store.lmdb, ...own };
}

/** Lists the threads, except the threads that hash passwords, whose delays mean no fault. */
function listThreads({ committers, delays = {} }: UsageStore, reports: ReportPool) {
  const committing = committers.flatMap(({ delays, journal }, at) => [
    [`commit-${at + 1}`, delays] as const,
    [`fold-${at + 1}`, journal?.foldDelays] as const,
  ]);
  const all = [...committing, ['reports', reports.delays] as const, ...Object.entries(delays)];
  return all.flatMap(([name, delays]) => (delays === undefined ? [] : [{ name, delays }]));
}

/** Commits waiting data, stops the threads and closes the stores. */
export async function closeCore(core: Core): Promise<void> {
  core.audit?.close();
  await core.decoder.close();
  await core.intake.close();
  await flushLastUses(core);
  await core.accountStore.close();
  await Promise.all([core.reports.close(), core.passwords.close()]);
  await Promise.all([core.usageStore.close(), core.accounts.lmdb.close()]);
  await core.storage?.close?.();
}

/** Writes the last uses of keys to disk. A failure is only logged, because no other data is lost. */
export async function flushLastUses({ directory, log }: Pick<Core, 'directory' | 'log'>): Promise<void> {
  try {
    await directory.flush();
  } catch (error) {
    logFailure(log, 'recording the last use of keys failed', error);
  }
}

/** Maximum time from a name lookup to the end of a webhook's response, ms. */
const webhookDeadlineMs = 15_000;

function openDeliverer(
  { config, log }: ServiceDeps,
  { accountStore, directory }: { readonly accountStore: AccountStore; readonly directory: Directory },
): Deliverer {
  const allowPrivate = config.webhookAllowPrivate;
  const reach = { resolve: resolver(allowPrivate), allowPrivate, allowedBy: '--webhook-allow-private' };
  const deps = { ...reach, version, deadlineMs: webhookDeadlineMs };
  return new Deliverer({ accountStore, directory, log, send: (...sent) => send(deps, ...sent) });
}

function openInstances({ config, randomBytes, front }: CoreDeps, usage: UsageStore): Instances {
  const { instanceTtl, rotationGrace } = config;
  const threads: InstanceThreads = {
    publish: (change) => front.shareInstances(change),
    barrier: (application) => front.barrier(application),
  };
  return new Instances({
    usage,
    randomBytes,
    ttlMs: instanceTtl * 1000,
    graceMs: rotationGrace * 1000,
    ...(front.count > 0 && { threads }),
  });
}

function openRates({ rate, burst }: Config, front: FrontThreads): RateLimits {
  if (front.count === 0) return new RateLimits(rate, burst);
  return new SharedRateLimits(rate, burst, (limit) => front.shareLimit(limit));
}

/** Creates the services that count packets and reports of every transport. */
function createCountingServices(
  { config, clock, front }: CoreDeps,
  {
    directory,
    usageStore,
    health,
    intake,
    findLane,
  }: Pick<CountingDeps, 'health' | 'findLane'> & {
    readonly directory: Directory;
    readonly usageStore: UsageStore;
    readonly intake: Intake;
  },
): CountingDeps {
  const { store, counted } = usageStore;
  const known = messagesSince(counted, clock.now() - messageLifeMs, 2 * maxSeenMessages);
  return {
    clock,
    health,
    usage: usageStore,
    keys: directory,
    monitor: intake.monitor,
    rates: openRates(config, front),
    unknown: new UnknownSenders(clock.monotonic()),
    bodies: new LargeBodies(config.bodyBudget),
    dictionary: new SeriesDictionary(counted, getSeriesLimits(config)),
    senders: new Senders(),
    messages: new SeenMessages(known),
    ledger: new Ledger({ store, clock, findLane: (number) => intake.findLane(number) }),
    findLane,
    collect: () => intake.collect(),
  };
}

/** Maximum time from a name lookup to the end of an issuer's response, ms. */
const issuerDeadlineMs = 5000;

/** Maximum size of a discovery document, a key set or another document of an issuer. */
const maxIssuerBytes = 256 * 1024;

/** Creates the services that fetch from issuers: identity providers and issuers of workload identity. */
function createIssuerServices({ issuerAllowPrivate: allowPrivate }: Config, clock: Clock, directory: Directory) {
  const reach = { resolve: resolver(allowPrivate), allowPrivate, allowedBy: '--issuer-allow-private' };
  const fetch: OutboundFetch = outboundFetch({
    ...reach,
    version,
    deadlineMs: issuerDeadlineMs,
    maxBytes: maxIssuerBytes,
  });
  const issuers = new Issuers(fetch, clock);
  return {
    fetchFromIssuer: fetch,
    issuers,
    providers: new Providers(directory),
    providerClient: new ProviderClient({ issuers, fetch, clock, allowPrivate }),
  };
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @throws {Error} if the key file cannot be used */
function createSchedule({
  config,
  clock,
  log,
  workerFile,
}: Pick<StorageDeps, 'config' | 'clock' | 'log' | 'workerFile'>): Schedule | undefined {
  const { data, backupEvery, backupTo, backupKeep: keep, backupKeyFile: keyFile } = config;
  if (backupEvery === undefined || backupTo === undefined) return undefined;
  const everyMs = Number.parseInt(backupEvery, 10) * unitMs[backupEvery.at(-1) as keyof typeof unitMs];
  const s3 = getS3Settings(config);
  if (keyFile !== undefined) readBackupKey(keyFile);
  const thread = new BackupThread(workerFile('storage/backup/worker'), { data, to: backupTo, keep, s3, keyFile });
  return new Schedule({ clock, log, everyMs, thread });
}
