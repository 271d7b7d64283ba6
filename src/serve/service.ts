import { setTimeout as pause } from 'node:timers/promises';
import { AuditExport } from '../accounts/audit-export.ts';
import { finishDeletion } from '../accounts/deletions.ts';
import { sweepExpired } from '../auth/sweep.ts';
import { TokenTally } from '../auth/token-tally.ts';
import { routesFrom } from '../http/endpoint.ts';
import { exposition } from '../http/exposition.ts';
import { health } from '../http/health.ts';
import { isFromSameMachine } from '../http/proxies/same-machine.ts';
import { RequestIds } from '../http/request-ids.ts';
import { RequestTally } from '../http/request-tally.ts';
import { createRouter, type RouterHooks } from '../http/router.ts';
import { SlowRequests } from '../http/slow-requests.ts';
import type { RequestTraces } from '../http/traced.ts';
import type { Dispatch, Request } from '../http/types.ts';
import type { GrpcListener } from '../ingest/grpc/listener.ts';
import { tellFailure } from '../runtime/background-failure.ts';
import { systemClock } from '../runtime/clock.ts';
import { watchLoop } from '../runtime/loop-delay.ts';
import { answerFoldRequests } from '../storage/backup/fold-requests.ts';
import { runUpkeep } from '../storage/upkeep/upkeep.ts';
import { applyReset } from './apply-reset.ts';
import type { BoundListeners } from './bound-listeners.ts';
import type { Config } from './config.ts';
import {
  type Core,
  closeCore,
  debugLog,
  flushMarks,
  forgetDeleted,
  lookAtFiles,
  openCore,
  refreshSigningKeys,
  type ServiceDeps,
} from './core.ts';
import type { Served } from './listeners.ts';
import { serviceMetrics, type Tallies } from './metrics.ts';
import type { Collector } from './otlp/otlp.ts';
import { answerPasswordRequests } from './password-requests.ts';
import { readinessOf } from './readiness.ts';
import { routesOf } from './routes.ts';
import { scanUsage } from './scan-usage.ts';
import { ServiceStatus } from './service-status.ts';
import { webhookWork } from './webhook-work.ts';

export interface Service {
  /** Is not ready any more, and serves all the same. */
  leave(): void;
  /** Changes the limits of applications, tokens and clients. */
  setRates(limits: Pick<Config, 'rate' | 'burst' | 'apiRate' | 'tokenRate'>): void;
  /** Stops accepting, answers and commits what was accepted, closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** Delay between the ready line and the background work, ms. */
const startWorkAfterMs = 50;

/** How long the end may wait for a collector to take the last traces, ms. */
const lastTracesMs = 500;

/** How often uses of keys are written, ms. */
const flushEveryMs = 60_000;

/** How often the gRPC health service is updated, ms. */
const tellEveryMs = 1000;

/** How often the keys of `flagmeter keys rotate` in another process are looked for, ms. */
const lookForKeysEveryMs = 2000;

/** Poll interval for requests of `flagmeter admin reset-password` and of backups, ms. */
const lookForRequestsEveryMs = 500;

/** Interval between checks of free disk space, ms. */
const lookAtDisksEveryMs = 60_000;

/** How often the files of the store are checked, ms; each commit checks them, too. */
const lookAtFilesEveryMs = 1000;

/** How often the totals are remembered that rates are made of, ms. */
const lookAtRatesEveryMs = 1000;

/** How often refusals are written to the ledger when no packet is committed, ms. */
const recordEveryMs = 1000;

/** How often the readers of the stores are checked, ms. */
const lookAtReadersEveryMs = 10_000;

/**
 * Starts the whole service on an open store and bound listeners, which it closes when it stops.
 * @throws {Error} when the usage store cannot be opened; the store is closed then, and the listeners are as they were
 */
export async function startService(parts: ServiceDeps, bound: BoundListeners): Promise<Service> {
  const { auditExport } = parts.config;
  const audit = auditExport === undefined ? undefined : AuditExport.open(auditExport, parts.log);
  const core = await openCore({ ...parts, audit }).catch((error) => {
    audit?.close();
    throw error;
  });
  const tallies = { requests: new RequestTally(), calls: bound.grpc.tally, tokens: new TokenTally(core) };
  const status = new ServiceStatus(core, tallies.requests);
  tallies.tokens.watch(core.engine);
  let collector: Collector | undefined;
  try {
    collector = await collectorOf(core);
    bound.serve(routersOf(core, bound, tallies, status, collector?.traces), core.reportKinds);
  } catch (error) {
    await closeCore(core);
    throw error;
  }
  if (collector?.traceDelivery !== undefined) core.deliverer.traceBy(collector.traceDelivery);
  const stopWork = startWork(core, bound.grpc, status);
  const stopPushing = collector?.start();
  return {
    leave() {
      core.shutdown.isNear = true;
      bound.grpc.setServing(false);
    },
    setRates({ rate, burst, apiRate, tokenRate }) {
      core.counting.rates.set(rate, burst);
      core.apiRates.set(apiRate, 2 * apiRate);
      core.clientRates.set(tokenRate);
    },
    async stop(graceMs) {
      const worked = stopWork();
      void stopPushing?.();
      await Promise.all([bound.close(graceMs), worked]);
      if (collector !== undefined) await closeSoon(collector);
      await closeCore(core);
    },
  };
}

/** Gives the collector some time to take the last traces. */
async function closeSoon(collector: Collector): Promise<void> {
  const closed = new AbortController();
  const late = pause(lastTracesMs, undefined, { signal: closed.signal }).catch(() => {});
  await Promise.race([collector.close(), late]);
  closed.abort(); // A timer that is left would hold up the end of the process.
}

/** The way to the collector. Its packages are loaded only where there is one. */
async function collectorOf(core: Core): Promise<Collector | undefined> {
  const { otlpEndpoint } = core.config;
  if (otlpEndpoint === undefined) return undefined;
  const { connectCollector } = await import('./otlp/otlp.ts');
  return connectCollector(core, otlpEndpoint);
}

/** Starts the background work. @returns ends it */
function startWork(core: Core, grpc: GrpcListener, status: ServiceStatus): () => Promise<unknown> {
  const { config, directory, intake, health, readers, log, audit } = core;
  const stopping = new AbortController();
  const rest = (ms: number) => pause(ms, true, { signal: stopping.signal }).catch(() => false);
  // The service is ready without this, so it begins after the ready line.
  const soon = (begin: () => Promise<unknown>) => rest(startWorkAfterMs).then((goOn) => goOn && begin());
  const sweeping = () =>
    sweepExpired({
      ...core,
      auditMs: config.keepAudit * 86_400_000,
      exportAudit: audit && (() => audit.run(core.accounts)),
      pause: rest,
      failed: (error) => tellFailure(log, 'what has expired could not be removed', error),
    });
  const keepingUp = () =>
    runUpkeep({
      ...core,
      applications: directory.applications,
      exposureDays: config.exposureDays,
      deletions: directory.deletions,
      settled: (application) => intake.laneOf(application).barrier(application),
      forget: (deletion) => forgetDeleted(core, deletion),
      finished: (deletion) => finishDeletion(directory, deletion),
      pause: rest,
      failed: (error) => health.failed(error),
    });
  const backingUp = async () => core.backups?.keep(rest);
  const work = [sweeping, keepingUp, backingUp, ...webhookWork(core, rest)].map(soon);
  const timers = [
    setInterval(() => void flushMarks(core), flushEveryMs),
    setInterval(() => grpc.setServing(readinessOf(core).counting.ready), tellEveryMs),
    setInterval(() => status.look(), lookAtRatesEveryMs),
    setInterval(() => intake.flushLedger(), recordEveryMs),
    setInterval(() => lookAtFiles(core), lookAtFilesEveryMs),
    setInterval(() => void core.disks.look(), lookAtDisksEveryMs),
    setInterval(() => void refreshSigningKeys(core), lookForKeysEveryMs),
    setInterval(() => void resetPasswords(core), lookForRequestsEveryMs),
    setInterval(() => void foldForBackups(core), lookForRequestsEveryMs),
    setInterval(() => readers.forEach((each) => void each.look()), lookAtReadersEveryMs),
  ];
  void core.disks.look();
  const stopWatching = watchLoop(core.mainDelays, systemClock);
  const scan = core.accounts.fullyChecked ? undefined : scanUsage({ ...core, pause: rest });
  return () => {
    for (const timer of timers) clearInterval(timer);
    stopWatching();
    stopping.abort();
    return Promise.all([...work, scan, core.backups?.stop()]);
  };
}

/** Does what `flagmeter admin reset-password` has asked for. */
async function resetPasswords(core: Core): Promise<void> {
  const { config, log } = core;
  try {
    await answerPasswordRequests(config.data, async (request) => {
      await applyReset(core, config.data, request);
      log.info('a password is reset by a command on this machine');
    });
  } catch (error) {
    tellFailure(log, 'requests for another password could not be read', error);
  }
}

/** Folds what a backup has to contain. */
async function foldForBackups({ config, usageEngine, health, log }: Core): Promise<void> {
  if (!health.ready) return;
  try {
    await answerFoldRequests(config.data, () => usageEngine.freshen());
  } catch (error) {
    tellFailure(log, 'the journal could not be folded for a backup', error);
  }
}

/**
 * What answers the requests of each listener, by the hosts that it serves. A token's issuer may depend on the port that was
 * free, so routes are made after binding.
 */
function routersOf(
  core: Core,
  bound: BoundListeners,
  tallies: Tallies,
  status: ServiceStatus,
  traces: RequestTraces | undefined,
): Map<readonly Served[], Dispatch> {
  const { listeners } = bound;
  const routes = routesOf(core, bound, status, tallies.tokens);
  const hooks = { ...hooksOf(core), tally: tallies.requests, ...(traces && { traces }) };
  const healthRoutes = routesFrom([health], () => readinessOf(core));
  // The metrics are for operators: with separate hosts, the metrics host is open to everyone.
  const host = core.config.opsListen === undefined ? 'api' : 'ops';
  const exposed = {
    metrics: serviceMetrics(core, tallies, bound),
    clock: core.clock,
    mayRead: (request: Request) => host === 'ops' || isFromSameMachine(request, bound.trusted),
  };
  const forOperators = [...healthRoutes, ...routesFrom([exposition], exposed)];
  return new Map(
    listeners.map(({ hosts }) => {
      const own = hosts.flatMap((each) => (each === 'ops' ? [] : routes[each]));
      const operations = hosts.includes(host) ? forOperators : healthRoutes;
      return [hosts, createRouter([...operations, ...own], hooks)];
    }),
  );
}

function hooksOf(core: Core): RouterHooks {
  const { log, clock, randomBytes } = core;
  const debug = debugLog(core);
  return {
    ids: new RequestIds(randomBytes),
    failed: (error, about) => log.error('a request failed', { ...about, error }),
    clock,
    slow: new SlowRequests(core.config.slowRequest, log, clock),
    ...(debug && {
      accessLog: { answered: (answered) => debug.debug('request', { ...answered }) },
    }),
  };
}
