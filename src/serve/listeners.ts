import type { RenewableListener } from '../http/renewable.ts';
import type { TlsFiles } from '../http/tls.ts';
import type { AddressOf, Dispatch, ListenOptions } from '../http/types.ts';
import { telemetryPath } from '../ingest/formats/telemetry/format.ts';
import type { GrpcListener } from '../ingest/grpc/listener.ts';
import { parseAddress } from '../runtime/address.ts';
import type { Config } from './config/config.ts';

/** The three sets of routes. */
export const hosts = ['auth', 'api', 'metrics'] as const;
export type Host = (typeof hosts)[number];

/** The routes of a listener besides health: `ops` is the service's own metrics. */
export type Served = Host | 'ops';

export interface HostListener {
  readonly listener: RenewableListener;
  readonly hosts: readonly Served[];
  /** Its options, if front-end threads join it. */
  readonly shared?: ListenOptions;
}

/** The paths that programs call most: packets, reports, instance ids, tokens, and the list of applications. */
function busyPathsOf({ metricsPathPrefix = '' }: Config): readonly string[] {
  const packets = [telemetryPath, '/api/frontend/identities', '/api/usage/stats', '/api/metrics'];
  const prefixed = `${metricsPathPrefix}${telemetryPath}`;
  return [...new Set([...packets, prefixed, '/connect/token', '/api/v2/applications'])];
}

/** Whether an address of HTTP is also that of gRPC, which makes it one port. Any two free ports differ. */
function isOnePort({ grpcListen }: Config, address: string): boolean {
  const http = parseAddress(address);
  const grpc = parseAddress(grpcListen);
  return http.port !== 0 && http.port === grpc.port && http.host === grpc.host;
}

/** The hosts of each address. Hosts without an address of their own share `--listen`. */
export function assignHosts(config: Config): readonly { address: string; hosts: readonly Served[] }[] {
  const own = { auth: config.authListen, api: config.apiListen, metrics: config.metricsListen };
  const shared = hosts.filter((host) => own[host] === undefined);
  const single = hosts.flatMap((host) =>
    own[host] === undefined ? [] : [{ address: own[host], hosts: [host] }],
  );
  const ops = config.opsListen === undefined ? [] : [{ address: config.opsListen, hosts: ['ops' as const] }];
  const common = shared.length === 0 ? [] : [{ address: config.listen, hosts: shared }];
  return [...common, ...single, ...ops];
}

/** Opens listeners of both kinds, and answers their requests. */
interface Openers {
  http(options: ListenOptions): Promise<RenewableListener>;
  grpc(options: ListenOptions): Promise<GrpcListener>;
  /** The client's address of a request. */
  readonly addressOf: AddressOf;
  /** True if front-end threads join the listener of the metrics host. */
  readonly shares: boolean;
  dispatchOf(hosts: readonly Served[]): Dispatch;
}

/**
 * Opens every listener. The first one is `--listen`, unless every host has its own. The gRPC listener also serves the hosts of
 * its address, or the metrics host, whose clients use gRPC as well. The `ops` listener has no TLS: scrapers are near, and use an
 * address that no certificate names.
 */
export async function listen(
  config: Config,
  tls: TlsFiles | undefined,
  openers: Openers,
): Promise<{ readonly listeners: readonly HostListener[]; readonly grpc: GrpcListener }> {
  const open: HostListener[] = [];
  const optionsOf = (address: string, hosts: readonly Served[]): ListenOptions => ({
    ...parseAddress(address),
    dispatch: openers.dispatchOf(hosts),
    headers: hosts.includes('ops') ? {} : strictTransport(config),
    addressOf: openers.addressOf,
    busyPaths: busyPathsOf(config),
    ...(tls !== undefined && !hosts.includes('ops') && { tls }),
  });
  let grpc: GrpcListener | undefined;
  const openGrpc = async (hosts: readonly Served[]) => {
    grpc = await openers.grpc(optionsOf(config.grpcListen, hosts));
    open.push({ listener: grpc, hosts });
    return grpc;
  };
  const openHttp = async (address: string, hosts: readonly Served[]): Promise<HostListener> => {
    const options = optionsOf(address, hosts);
    if (!openers.shares || hosts[0] !== 'metrics') return { listener: await openers.http(options), hosts };
    const shared: ListenOptions = { ...options, isShared: true };
    const listener = await openers.http(shared);
    return { listener, hosts, shared: { ...shared, port: listener.port } };
  };
  try {
    for (const { address, hosts } of assignHosts(config)) {
      if (isOnePort(config, address) && !hosts.includes('ops')) await openGrpc(hosts);
      else open.push(await openHttp(address, hosts));
    }
    return { listeners: open, grpc: grpc ?? (await openGrpc(['metrics'])) };
  } catch (error) {
    await Promise.all(open.map(({ listener }) => listener.close(0)));
    throw error;
  }
}

/**
 * HSTS for a year, if all public URLs are https (RFC 6797). It covers all ports of a name, so it excludes `localhost`, which other
 * servers share.
 */
export function strictTransport({
  authUrl,
  baseUrl,
  metricsUrl,
}: Pick<Config, 'authUrl' | 'baseUrl' | 'metricsUrl'>): Readonly<Record<string, string>> {
  const urls = [authUrl, baseUrl, metricsUrl].filter((url) => url !== undefined).map((url) => new URL(url));
  const isPublic = ({ protocol, hostname }: URL) => protocol === 'https:' && hostname !== 'localhost';
  if (urls.length === 0 || !urls.every(isPublic)) return {};
  return { 'strict-transport-security': 'max-age=31536000' };
}
