import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { finishDeletion } from '../accounts/deletions.ts';
import { parseAddress } from '../address.ts';
import { sweepExpired } from '../auth/sweep.ts';
import type { Config } from '../config.ts';
import { Refusal } from '../errors.ts';
import { healthRoutes } from '../http/health.ts';
import { problem } from '../http/problem.ts';
import { createRouter } from '../http/router.ts';
import { inTurns } from '../http/turns.ts';
import type { Dispatch } from '../http/types.ts';
import { type GrpcListener, listenGrpc } from '../ingest/grpc.ts';
import { keepUp } from '../ingest/upkeep.ts';
import {
  type Core,
  closeCore,
  flushMarks,
  forgetDeleted,
  lookAtFiles,
  openCore,
  readinessOf,
  refreshSigningKeys,
  type ServiceParts,
} from './core.ts';
import { type Host, type HostListener, listen } from './listeners.ts';
import { routesOf } from './routes.ts';

/** A running service. */
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

/** `flagmeter keys rotate` in another process is noticed this late, ms. */
const lookForKeysEveryMs = 2000;

/** That a file of the store is gone is noticed this late, when nothing is committed meanwhile. */
const lookAtFilesEveryMs = 1000;

/** What was refused is in the ledger this late, when no packet takes it along. */
const recordEveryMs = 1000;

/** A reader that is too old is in the log this late. */
const lookAtReadersEveryMs = 10_000;

/**
 * Starts the whole service on an open store.
 * @throws {Error} when an address cannot be bound or the usage store cannot be opened; nothing is left open then
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const core = await openCore(parts);
  let listeners: readonly HostListener[] = [];
  const closeListeners = (graceMs: number) =>
    Promise.all(listeners.map(({ listener }) => listener.close(graceMs)));
  const routers: Routers = new Map();
  try {
    listeners = await listen(core.engine, core.config, (hosts) => {
      return inTurns((request) => (routers.get(hosts) ?? starting)(request));
    });
    addRouters(routers, core, listeners);
    const grpc = await listenReports(core);
    const stopWork = startWork(core, grpc);
    const stop = async (graceMs: number) => {
      const worked = stopWork();
      await Promise.all([closeListeners(graceMs), grpc.close(graceMs), worked]);
      await closeCore(core);
    };
    return { listeners, grpc, stop };
  } catch (error) {
    await closeListeners(0);
    await closeCore(core);
    throw error;
  }
}

/** Starts what goes on in the background; gives a function that ends it. */
function startWork(core: Core, grpc: GrpcListener): () => Promise<unknown> {
  const { config, directory, intake, health, readers, log } = core;
  const stopping = new AbortController();
  const rest = (ms: number) => pause(ms, true, { signal: stopping.signal }).catch(() => false);
  const sweep = sweepExpired({
    ...core,
    auditMs: config.keepAudit * 86_400_000,
    pause: rest,
    failed: (error) => log.warn('what has expired could not be removed', { error }),
  });
  const upkeep = keepUp({
    ...core,
    applications: directory.applications,
    exposureDays: config.exposureDays,
    deletions: directory.deletions,
    committerOf: (application) => intake.committerOf(application),
    settled: (application) => intake.settled(application),
    forget: (deletion) => forgetDeleted(core, deletion),
    finished: (deletion) => finishDeletion(directory, deletion),
    pause: rest,
    failed: (error) => health.failed(error),
  });
  const timers = [
    setInterval(() => flushMarks(core), flushEveryMs),
    setInterval(() => grpc.setServing(readinessOf(core).ready), tellEveryMs),
    setInterval(() => intake.flushLedger(), recordEveryMs),
    setInterval(() => lookAtFiles(core), lookAtFilesEveryMs),
    setInterval(() => void refreshSigningKeys(core), lookForKeysEveryMs),
    setInterval(() => readers.forEach((each) => void each.look()), lookAtReadersEveryMs),
  ];
  return () => {
    for (const timer of timers) clearInterval(timer);
    stopping.abort();
    return Promise.all([upkeep, sweep]);
  };
}

/** What answers the requests of each listener, by the hosts that it serves. */
type Routers = Map<readonly Host[], Dispatch>;

/** A token's issuer may depend on the port that was free, so routes are made after binding. */
function addRouters(routers: Routers, core: Core, listeners: readonly HostListener[]): void {
  const onError = (error: unknown) => core.log.error('a request failed', { error });
  const routes = routesOf(core, listeners);
  for (const { hosts } of listeners) {
    const own = hosts.flatMap((host) => routes[host]);
    routers.set(hosts, createRouter([...healthRoutes(() => readinessOf(core)), ...own], onError));
  }
}

const starting: Dispatch = () => problem(new Refusal('store_unavailable', 'The service is starting', 1));

/** Opens the gRPC listener. */
function listenReports({ config, clock, log, receiver }: Core): Promise<GrpcListener> {
  const { grpcListen, maxReport } = config;
  const onError = (error: unknown) => log.error('a call failed', { error });
  return listenGrpc({ ...parseAddress(grpcListen), ...grpcTls(config), maxReport, clock, receiver, onError });
}

function grpcTls({ tlsCert, tlsKey }: Config): { tls?: { cert: Buffer; key: Buffer } } {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  return { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } };
}
