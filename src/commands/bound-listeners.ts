import { parseAddress } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { type GrpcListener, listenGrpc } from '../grpc/listener.ts';
import { routesFrom } from '../http/endpoint.ts';
import { health } from '../http/health.ts';
import { problem } from '../http/problem.ts';
import { clientAddress } from '../http/proxies/client-address.ts';
import { createRouter } from '../http/router.ts';
import { SlowRequests } from '../http/slow-requests.ts';
import { checkTlsTime, expiryOf, hostsWithout, readTls, type TlsFiles, type TlsPair } from '../http/tls.ts';
import { inTurns } from '../http/turns.ts';
import type { AddressOf, Dispatch, Engine } from '../http/types.ts';
import { notStarted } from '../ingest/not-started.ts';
import { IpNetworks, readNetworks } from '../ip-networks.ts';
import type { Log } from '../log.ts';
import type { ReportKinds } from '../reports/kinds.ts';
import { type HostListener, listen, type Served, urlOf } from './listeners.ts';

export interface BindDeps {
  readonly config: Config;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
}

/** The service's listeners. They are bound before a data directory is touched, and answer 503 until the service is ready. */
export interface BoundListeners {
  readonly listeners: readonly HostListener[];
  readonly grpc: GrpcListener;
  /** When the certificate in use expires, Unix ms; `undefined` without TLS. */
  certificateExpiry(): number | undefined;
  /** Starts serving: each listener with the dispatch of its hosts, gRPC takes the reports. */
  serve(dispatches: ReadonlyMap<readonly Served[], Dispatch>, reports: ReportKinds): void;
  /**
   * Reads the TLS files again, for new connections.
   * @returns whether TLS is configured
   * @throws {Error} when they cannot be used; the previous ones stay in use
   */
  renewTls(graceMs: number): Promise<boolean>;
  close(graceMs: number): Promise<void>;
}

/**
 * Reads the TLS files and binds every address.
 * @throws {Error} when a file or an address cannot be used; nothing is left open then
 */
export async function bindListeners(parts: BindDeps): Promise<BoundListeners> {
  const { config, engine } = parts;
  const files = tlsFilesOf(config);
  let tls = files && readValidTls(files, parts.clock);
  const current: { dispatches: ReadonlyMap<readonly Served[], Dispatch> } = { dispatches: new Map() };
  const listeners = await listen(engine, config, files, addressOfClients(parts), (hosts) => {
    return inTurns((request) => (current.dispatches.get(hosts) ?? starting)(request));
  });
  const closeListeners = (graceMs: number) =>
    Promise.all(listeners.map(({ listener }) => listener.close(graceMs)));
  try {
    const grpc = await listenReports(parts, tls, listeners);
    grpc.setServing(false);
    if (files && tls) warnOfNames(parts, listeners, files, tls);
    return {
      listeners,
      grpc,
      certificateExpiry: () => tls && expiryOf(tls),
      serve(ready, reports) {
        current.dispatches = ready;
        grpc.begin(reports);
        grpc.setServing(true);
      },
      async renewTls(graceMs) {
        if (files === undefined) return false;
        const pair = readValidTls(files, parts.clock);
        warnOfNames(parts, listeners, files, pair);
        grpc.renewTls(pair);
        const secured = listeners.filter(({ hosts }) => !hosts.includes('ops'));
        await Promise.all(secured.map(({ listener }) => listener.renew(graceMs)));
        tls = pair;
        return true;
      },
      async close(graceMs) {
        await Promise.all([closeListeners(graceMs), grpc.close(graceMs)]);
      },
    };
  } catch (error) {
    await closeListeners(0);
    throw error;
  }
}

function addressOfClients({ config: { trustedProxies, proxyHeader }, log }: BindDeps): AddressOf {
  const trusted = trustedProxies === undefined ? new IpNetworks([]) : readNetworks(trustedProxies);
  return clientAddress({ trusted, header: proxyHeader, log });
}

const notYet = { ready: false, reason: 'the service is starting' };
const answerHealth = createRouter(
  routesFrom([health], () => ({ counting: notYet, managing: notYet, commits: 0 })),
);

/** Answers while the service starts: the health routes, and 503 for everything else. */
const starting: Dispatch = (request) =>
  ['/healthz', '/readyz'].includes(request.path) ? answerHealth(request) : problem(notStarted);

function listenReports(
  { config, clock, log }: BindDeps,
  tls: TlsPair | undefined,
  listeners: readonly HostListener[],
): Promise<GrpcListener> {
  const { grpcListen, maxReport, slowRequest } = config;
  const onError = (error: unknown) => log.error('a call failed', { error });
  return listenGrpc({
    ...parseAddress(grpcListen),
    ...(tls && { tls }),
    maxReport,
    clock,
    onError,
    slow: new SlowRequests(slowRequest, log, clock),
    httpPort: listeners.find(({ hosts }) => hosts.includes('metrics'))?.listener.port,
  });
}

function tlsFilesOf({ tlsCert, tlsKey }: Config): TlsFiles | undefined {
  return tlsCert === undefined || tlsKey === undefined ? undefined : { certFile: tlsCert, keyFile: tlsKey };
}

function readValidTls(files: TlsFiles, clock: Clock): TlsPair {
  const pair = readTls(files);
  checkTlsTime(pair, files, clock.now());
  return pair;
}

/** A certificate for other names is not an error: a proxy in front may not check it. */
function warnOfNames(
  { config, log }: BindDeps,
  listeners: readonly HostListener[],
  { certFile }: TlsFiles,
  tls: TlsPair,
): void {
  const urls = [
    config.authUrl ?? urlOf(listeners, 'auth', true),
    config.baseUrl ?? urlOf(listeners, 'api', true),
    config.metricsUrl ?? urlOf(listeners, 'metrics', true),
  ];
  const secure = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:');
  const names = new Set(secure.map(({ hostname }) => hostname.replace(/^\[|\]$/g, '')));
  const hosts = hostsWithout(tls, [...names]);
  if (hosts.length === 0) return;
  const hint =
    'clients will refuse it; set --auth-url, --base-url and --metrics-url to a name of the certificate';
  log.warn('the certificate is not for a host of the public URLs', { certificate: certFile, hosts, hint });
}
