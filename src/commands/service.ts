import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { parseAddress } from '../address.ts';
import { RateLimits } from '../admission/rate-limits.ts';
import { startCommitter } from '../aggregate/committer.ts';
import type { TokenSettings } from '../auth/access-token.ts';
import { createBearer } from '../auth/bearer.ts';
import { jwksRoutes } from '../auth/jwks.ts';
import { openSigningKeys, type SigningKeys } from '../auth/signing-keys.ts';
import { tokenRoutes } from '../auth/token-endpoint.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { Refusal } from '../errors.ts';
import { healthRoutes, type Readiness } from '../http/health.ts';
import { problem } from '../http/problem.ts';
import { createRouter } from '../http/router.ts';
import type { Dispatch, Engine, Route } from '../http/types.ts';
import type { CountingParts } from '../ingest/counting-parts.ts';
import { type GrpcListener, listenGrpc } from '../ingest/grpc.ts';
import { grpcWebRoutes } from '../ingest/grpc-web.ts';
import { identityRoutes as mintRoutes } from '../ingest/identities.ts';
import { Instances } from '../ingest/instances.ts';
import { Intake } from '../ingest/intake.ts';
import { Ledger } from '../ingest/ledger.ts';
import { metricsRoutes } from '../ingest/metrics.ts';
import { openapiRoutes } from '../ingest/openapi.ts';
import { createReportReceiver } from '../ingest/receive-report.ts';
import type { ReportReceiver } from '../ingest/report.ts';
import { mostSeenMessages, SeenMessages } from '../ingest/seen-messages.ts';
import { SeriesDictionary } from '../ingest/series-dictionary.ts';
import { StoreHealth } from '../ingest/store-health.ts';
import { telemetryRoutes } from '../ingest/telemetry.ts';
import { keepUp } from '../ingest/upkeep.ts';
import { usageRoutes } from '../ingest/usage.ts';
import type { Log } from '../log.ts';
import { applicationRoutes } from '../manage/applications.ts';
import { environmentRoutes } from '../manage/environments.ts';
import { identityRoutes } from '../manage/identities.ts';
import { ingestReportRoutes } from '../manage/ingest-report.ts';
import { keyRoutes } from '../manage/keys.ts';
import { type ReportPool, startReportPool } from '../manage/report-pool.ts';
import { reportRoutes } from '../manage/reports.ts';
import type { AccountStore } from '../store/accounts.ts';
import { messageLifeMs, messagesSince } from '../store/messages.ts';
import type { Application } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import { openUsageStore, type UsageStore } from '../store/usage.ts';
import { type Host, type HostListener, listen, urlOf } from './listeners.ts';

/** What the service is made of that differs between a deployment and a test. */
export interface ServiceParts {
  readonly config: Config;
  /** Open and prepared; the service closes it. */
  readonly accounts: AccountStore;
  readonly engine: Engine;
  /** Where a compiled worker is: `aggregate/worker`, `manage/report-worker`. */
  readonly workerFile: (name: string) => string;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Buffer;
  readonly log: Log;
  /** The store cannot be trusted any more: the process must end with a failure. */
  readonly fatal: (reason: string) => void;
}

export interface Service {
  readonly listeners: readonly HostListener[];
  readonly grpc: GrpcListener;
  /** Stops accepting, answers and commits what was accepted, closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** Uses of keys that are not on disk yet may be this old, ms. */
const flushEveryMs = 60_000;

/** Watchers of the gRPC health service learn this late that the service is, or is not, ready. */
const tellEveryMs = 1000;

/** What was refused is in the ledger this late, when no packet takes it along. */
const recordEveryMs = 1000;

/**
 * Starts the whole service on an open store: the one place where its parts are put together.
 * @throws {Error} when an address cannot be bound or the usage store cannot be opened
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { config, log, fatal } = parts;
  const directory = openDirectory(parts.accounts, parts);
  const usage = openUsageStore(config.data);
  const health = new StoreHealth({
    log,
    fatal,
    data: config.data,
    after: (ms, then) => setTimeout(then, ms).unref(),
  });
  const committers = Array.from({ length: config.workers }, () =>
    startCommitter(parts.workerFile('aggregate/worker'), config.data, config.maxIdentities),
  );
  const intake = new Intake(committers, health, parts.clock, config);
  const signingKeys = await openSigningKeys(parts.accounts.signingKeys.getRange().map(({ value }) => value));
  const retention = retentionOf(config);
  const counting = countingParts({ ...parts, directory, usage, health, intake });
  const receiver = createReportReceiver({ ...counting, retention });
  const instances = openInstances(parts, usage, counting);
  const reports = startReportPool(parts.workerFile('manage/report-worker'), config.data);
  const counters = { counting, receiver, instances, retention, reports };
  const shared = { ...parts, directory, usage, health, intake, signingKeys, ...counters };
  const listeners = await listenHttp(shared);
  const grpc = await listenReports(shared);
  const stopping = new AbortController();
  const upkeep = keepUp({
    ...shared,
    applications: directory.applications,
    committerOf: (application) => intake.committerOf(application),
    pause: (ms) => pause(ms, true, { signal: stopping.signal }).catch(() => false),
    failed: (error) => health.failed(error),
  });
  const flushing = setInterval(() => void flush(directory, log), flushEveryMs);
  const telling = setInterval(() => grpc.setServing(readinessOf(shared).ready), tellEveryMs);
  const recording = setInterval(() => intake.flushLedger(), recordEveryMs);
  return {
    listeners,
    grpc,
    async stop(graceMs) {
      clearInterval(flushing);
      clearInterval(telling);
      clearInterval(recording);
      stopping.abort();
      await Promise.all([...listeners.map(({ listener }) => listener.close(graceMs)), grpc.close(graceMs)]);
      await upkeep;
      await intake.close();
      await flush(directory, log);
      await reports.close();
      await Promise.all([usage.environment.close(), parts.accounts.environment.close()]);
    },
  };
}

interface StoreParts extends ServiceParts {
  readonly directory: Directory;
  readonly usage: UsageStore;
  readonly health: StoreHealth;
  readonly intake: Intake;
}

interface HttpParts extends StoreParts {
  readonly signingKeys: SigningKeys;
  readonly counting: CountingParts;
  readonly instances: Instances;
  readonly receiver: ReportReceiver;
  readonly retention: Retention;
  readonly reports: ReportPool;
}

function retentionOf({ keepMinutes, keepHours, keepDays }: Config): Retention {
  const hourMs = 3_600_000;
  return {
    minutesMs: keepMinutes * hourMs,
    hoursMs: keepHours * 24 * hourMs,
    daysMs: keepDays * 24 * hourMs,
  };
}

function openInstances(
  { config, randomBytes }: ServiceParts,
  store: UsageStore,
  { laneOf }: CountingParts,
): Instances {
  const { instanceTtl, rotationGrace } = config;
  return new Instances({
    store,
    randomBytes,
    laneOf,
    ttlMs: instanceTtl * 1000,
    graceMs: rotationGrace * 1000,
  });
}

/** What all ways of counting share, whatever transport a packet or report comes by. */
function countingParts({ config, clock, directory, health, intake, usage }: StoreParts): CountingParts {
  const { maxFeatures, maxMetrics } = config;
  const known = messagesSince(usage, clock.now() - messageLifeMs, mostSeenMessages);
  return {
    clock,
    health,
    keys: directory,
    monitor: intake.monitor,
    rates: new RateLimits(config.rate, config.burst),
    dictionary: new SeriesDictionary(usage, { features: maxFeatures, metrics: maxMetrics }),
    messages: new SeenMessages(known),
    ledger: new Ledger({ store: usage, clock, laneOf: (number) => intake.laneOf(number) }),
    laneOf: (applicationNumber) => intake.laneOf(applicationNumber),
  };
}

/** Opens the HTTP listeners. A token's issuer may depend on the port that was free, so routes are made after binding. */
async function listenHttp(parts: HttpParts): Promise<readonly HostListener[]> {
  const routers = new Map<readonly Host[], Dispatch>();
  const listeners = await listen(parts.engine, parts.config, (hosts) => {
    routers.set(hosts, () => starting);
    return (request) => routers.get(hosts)!(request);
  });
  const onError = (error: unknown) => parts.log.error('a request failed', { error });
  const routes = routesOf(parts, listeners);
  for (const { hosts } of listeners) {
    const own = hosts.flatMap((host) => routes[host]);
    routers.set(hosts, createRouter([...healthRoutes(() => readinessOf(parts)), ...own], onError));
  }
  return listeners;
}

const starting = problem(new Refusal('store_unavailable', 'The service is starting', 1));

function routesOf(parts: HttpParts, listeners: readonly HostListener[]): Record<Host, readonly Route[]> {
  const tls = parts.config.tlsCert !== undefined;
  const tokens: TokenSettings = {
    ...parts,
    keys: parts.signingKeys,
    issuer: parts.config.authUrl ?? urlOf(listeners, 'auth', tls),
    audience: parts.config.baseUrl ?? urlOf(listeners, 'api', tls),
  };
  const { metricsUrl, maxBody } = parts.config;
  const server = metricsUrl ?? urlOf(listeners, 'metrics', tls);
  return {
    auth: authRoutes(parts, tokens),
    api: apiRoutes(parts, tokens),
    metrics: [...ingestRoutes(parts), ...openapiRoutes({ server, maxBody })],
  };
}

function authRoutes({ config, directory }: HttpParts, tokens: TokenSettings): readonly Route[] {
  const { serviceScope } = config;
  return [...tokenRoutes({ ...tokens, directory, serviceScope }), ...jwksRoutes(tokens.keys)];
}

function apiRoutes(
  { config, directory, usage, reports, clock, retention, instances }: HttpParts,
  tokens: TokenSettings,
): readonly Route[] {
  const { serviceScope, exposureDays } = config;
  const forget = (application: Application, identity: string) => instances.forget(application, identity);
  const manage = { directory, authenticate: createBearer({ ...tokens, directory, serviceScope }) };
  return [
    ...applicationRoutes(manage),
    ...environmentRoutes(manage),
    ...keyRoutes(manage),
    ...reportRoutes({ ...manage, reports, clock, retention }),
    ...ingestReportRoutes({ ...manage, store: usage, clock }),
    ...identityRoutes({ ...manage, store: usage, clock, exposureDays, forget }),
  ];
}

function ingestRoutes(parts: HttpParts): readonly Route[] {
  const { config, clock, log, counting, receiver, instances } = parts;
  const { maxBody } = config;
  return [
    ...telemetryRoutes({ ...counting, instances, maxBody }),
    ...mintRoutes({ ...counting, instances, maxBody }),
    ...usageRoutes({ receiver, maxBody }),
    ...metricsRoutes({ receiver, maxBody }),
    ...grpcWebRoutes({ receiver, maxBody, clock, onError: reportFailure(log) }),
  ];
}

/** Opens the gRPC listener. */
function listenReports({ config, clock, log, receiver }: HttpParts): Promise<GrpcListener> {
  const { grpcListen, maxBody } = config;
  const onError = reportFailure(log);
  return listenGrpc({ ...parseAddress(grpcListen), ...grpcTls(config), maxBody, clock, receiver, onError });
}

function reportFailure(log: Log): (error: unknown) => void {
  return (error) => log.error('a call failed', { error });
}

function readinessOf({ health, intake, clock }: HttpParts): Readiness {
  const { commits } = intake;
  if (!health.ready) return { ready: false, reason: 'the store cannot take data; see the log', commits };
  const queueOpen = intake.monitor.admits(clock.monotonic());
  return { ready: queueOpen, reason: queueOpen ? '' : 'too much is waiting for the disk', commits };
}

async function flush(directory: Directory, log: Log): Promise<void> {
  try {
    await directory.flush();
  } catch (error) {
    log.warn('when keys were last used could not be kept', { error });
  }
}

function grpcTls({ tlsCert, tlsKey }: Config): { tls?: { cert: Buffer; key: Buffer } } {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  return { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } };
}
