import { clientAddress } from '../http/client-address.ts';
import { ConnectionLimiter, type Descriptors } from '../http/connection-limiter.ts';
import { routesFrom } from '../http/endpoint.ts';
import { health } from '../http/health.ts';
import { limitPerTurn } from '../http/response-limit.ts';
import { problem } from '../http/responses.ts';
import { createRouter } from '../http/router.ts';
import { SlowRequests } from '../http/slow-requests.ts';
import {
  checkTlsTime,
  hostsWithout,
  listenRenewably,
  type Renewable,
  readExpiry,
  readTls,
  reopenAll,
  type TlsPair,
} from '../http/tls.ts';
import type { Dispatch, HttpEngine, ListenOptions, TlsFiles } from '../http/types.ts';
import { notStarted } from '../ingest/admission.ts';
import { allowOrigin, preflight } from '../ingest/declared.ts';
import type { FormatDeps } from '../ingest/formats/formats.ts';
import { telemetryPath } from '../ingest/formats/telemetry/format.ts';
import { type GrpcListener, listenGrpc } from '../ingest/grpc/listener.ts';
import { IpNetworks, readNetworks } from '../runtime/addresses.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Config } from './config/config.ts';
import {
  checkPublicUrls,
  type HostListener,
  listen,
  publicUrls,
  type ServedHost,
  warnOfPlainPasswords,
} from './listeners.ts';

interface BindDeps {
  readonly config: Config;
  readonly engine: HttpEngine;
  readonly clock: Clock;
  readonly log: Log;
  /** The connections of this process; `undefined` if the runtime does not show them. */
  readonly descriptors?: Descriptors | undefined;
}

/**
 * The listeners. Every listener is bound before the data directory is opened, and responds with 503 until the directory
 * is ready.
 */
export interface BoundListeners {
  readonly listeners: readonly HostListener[];
  readonly grpc: GrpcListener;
  /** Options of the listener whose address front-end threads share; `undefined` without such threads. */
  readonly shared: ListenOptions | undefined;
  readonly trusted: IpNetworks;
  /** Expiry of the certificate in use, Unix ms; `undefined` without TLS. */
  certificateExpiry(): number | undefined;
  /** Number of surplus connections that were closed; `undefined` if the runtime does not show connections. */
  surplusClosed(): number | undefined;
  /** Starts serving HTTP, with a dispatch per set of hosts, and gRPC, with the services of `deps`. */
  serve(dispatches: ReadonlyMap<readonly ServedHost[], Dispatch>, deps: FormatDeps): void;
  /**
   * Reads the TLS files again. New connections use them.
   * @returns false if TLS is not configured
   * @throws {Error} if the files cannot be used; the current files stay in use
   */
  renewTls(graceMs: number): Promise<boolean>;
  /**
   * Stops accepting connections on the address that front-end threads share. Call this once these threads listen.
   * @param others the listeners of these threads, which `renewTls` also renews from then on
   */
  handOver(others: Renewable): void;
  /** Changes the trusted proxies from the next request on. */
  trust(config: Pick<Config, 'trustedProxies'>): void;
  close(graceMs: number): Promise<void>;
}

/**
 * Reads the TLS files, and binds every address.
 * @throws {UsageError} if an address needs a public URL that is not set
 * @throws {Error} if a file or an address cannot be used; nothing stays open
 */
export async function bindListeners(bindDeps: BindDeps): Promise<BoundListeners> {
  const { config, engine, log } = bindDeps;
  checkPublicUrls(config);
  const files = findTlsFiles(config);
  let tls = files && readValidTls(files, bindDeps.clock);
  const current: { dispatches: ReadonlyMap<readonly ServedHost[], Dispatch> } = { dispatches: new Map() };
  const trusted = readTrustedProxies(config);
  const findAddress = clientAddress({ trusted, header: config.proxyHeader, log: bindDeps.log });
  const { listeners, grpc } = await listen(config, files, {
    http: (options) => listenRenewably(engine, options),
    grpc: (options) => listenReports(bindDeps, options, trusted),
    findAddress,
    shares: engine.name === 'bun' && config.threads > 0,
    findDispatch: (hosts) => limitPerTurn((request) => (current.dispatches.get(hosts) ?? starting)(request)),
  });
  let accepting: readonly HostListener[] = listeners;
  const joined: Renewable[] = [];
  const closeListeners = (graceMs: number) => Promise.all(accepting.map(({ listener }) => listener.close(graceMs)));
  try {
    grpc.setServing(false);
    warnOfPlainPasswords(publicUrls(config, listeners), log);
    if (files && tls) warnOfNames(bindDeps, listeners, files, tls);
    const limiter = watchConnections(bindDeps, trusted, listeners);
    return {
      listeners,
      grpc,
      shared: listeners.find(({ shared }) => shared !== undefined)?.shared,
      trusted,
      certificateExpiry: () => tls && readExpiry(tls),
      surplusClosed: () => limiter?.closed,
      serve(ready, deps) {
        current.dispatches = ready;
        grpc.begin(deps);
        grpc.setServing(true);
      },
      handOver(others) {
        joined.push(others);
        accepting = leaveShared(listeners);
      },
      trust: (wanted) => trusted.become(readTrustedProxies(wanted)),
      async renewTls(graceMs) {
        if (files === undefined) return false;
        const pair = readValidTls(files, bindDeps.clock);
        warnOfNames(bindDeps, listeners, files, pair);
        const renewal = await reopenAll([...listSecured(accepting), ...joined]);
        await renewal.finish(graceMs);
        tls = pair;
        return true;
      },
      async close(graceMs) {
        limiter?.stop();
        await closeListeners(graceMs);
      },
    };
  } catch (error) {
    await closeListeners(0);
    throw error;
  }
}

function listSecured(listeners: readonly HostListener[]): readonly Renewable[] {
  return listeners.filter(({ hosts }) => !hosts.includes('ops')).map(({ listener }) => listener);
}

/** Maximum time for the requests that arrived during startup, ms. */
const handOverGraceMs = 10_000;

/** Stops accepting connections on the shared address, without waiting for busy connections. */
function leaveShared(listeners: readonly HostListener[]): readonly HostListener[] {
  for (const { listener, shared } of listeners) if (shared) void listener.close(handOverGraceMs);
  return listeners.filter(({ shared }) => shared === undefined);
}

function readTrustedProxies({ trustedProxies }: Pick<Config, 'trustedProxies'>): IpNetworks {
  return trustedProxies === undefined ? new IpNetworks([]) : readNetworks(trustedProxies);
}

function watchConnections(
  { config, descriptors, log, clock }: BindDeps,
  trusted: IpNetworks,
  listeners: readonly HostListener[],
): ConnectionLimiter | undefined {
  if (descriptors === undefined) return undefined;
  const ports = new Set(listeners.map(({ listener }) => listener.port));
  const perAddress = config.maxConnectionsPerAddress;
  const limiter = new ConnectionLimiter({ descriptors, ports, trusted, perAddress, log, clock });
  limiter.start();
  return limiter;
}

const notYet = { ready: false, reason: 'the service is starting' };
const healthRouter = createRouter(
  routesFrom([health], () => ({ counting: notYet, managing: notYet, commits: 0, warnings: [] })),
);

/** Responds during startup: health, preflights, and 503 for other requests. Web pages can read the 503 for a packet. */
const starting: Dispatch = (request) => {
  if (['/healthz', '/readyz'].includes(request.path)) return healthRouter(request);
  if (!request.path.endsWith(telemetryPath)) return problem(notStarted);
  const origin = request.header('origin');
  if (request.method === 'OPTIONS') return { status: 204, headers: preflight(origin) };
  return problem(notStarted, allowOrigin(origin));
};

function listenReports(
  { config, engine, clock, log }: BindDeps,
  options: ListenOptions,
  trusted: IpNetworks,
): Promise<GrpcListener> {
  const { maxReport, slowRequest } = config;
  const onError = (error: unknown) => log.error('a call failed', { error });
  return listenGrpc({
    ...options,
    engine,
    maxReport,
    trusted,
    clock,
    onError,
    slow: new SlowRequests(slowRequest, log, clock),
  });
}

function findTlsFiles({ tlsCert, tlsKey }: Config): TlsFiles | undefined {
  return tlsCert === undefined || tlsKey === undefined ? undefined : { certFile: tlsCert, keyFile: tlsKey };
}

function readValidTls(files: TlsFiles, clock: Clock): TlsPair {
  const pair = readTls(files);
  checkTlsTime(pair, files, clock.now());
  return pair;
}

/** Warns if the certificate lacks the name of a public host. A proxy in front might not check names, so TLS can work. */
function warnOfNames(
  { config, log }: BindDeps,
  listeners: readonly HostListener[],
  { certFile }: TlsFiles,
  tls: TlsPair,
): void {
  const urls = Object.values(publicUrls(config, listeners));
  const secure = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:');
  const names = new Set(secure.map(({ hostname }) => hostname.replace(/^\[|\]$/g, '')));
  const hosts = hostsWithout(tls, [...names]);
  if (hosts.length === 0) return;
  const hint = 'clients will refuse it; set --auth-url, --base-url and --metrics-url to a name of the certificate';
  log.warn('the certificate is not for a host of the public URLs', { certificate: certFile, hosts, hint });
}
