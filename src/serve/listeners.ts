import { listenRenewably, type RenewableListener } from '../http/renewable.ts';
import type { TlsFiles } from '../http/tls.ts';
import type { AddressOf, Dispatch, HttpEngine } from '../http/types.ts';
import { telemetryPath } from '../ingest/telemetry/endpoint.ts';
import { parseAddress } from '../runtime/address.ts';
import type { Config } from './config.ts';

/** The three sets of routes. */
export const hosts = ['auth', 'api', 'metrics'] as const;
export type Host = (typeof hosts)[number];

/** The routes of a listener besides health: `ops` is the service's own metrics. */
export type Served = Host | 'ops';

export interface HostListener {
  readonly listener: RenewableListener;
  readonly hosts: readonly Served[];
}

/** The paths of packets and reports. */
function busyPathsOf({ metricsPathPrefix = '' }: Config): readonly string[] {
  const prefixed = `${metricsPathPrefix}${telemetryPath}`;
  return [...new Set([telemetryPath, prefixed, '/api/usage/stats', '/api/metrics'])];
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

/**
 * Opens every HTTP listener. The first one is `--listen`, unless every host has its own. The `ops` listener has no TLS: scrapers
 * are near, and use an address that no certificate names.
 * @param addressOf address of the client of a request
 */
export async function listen(
  engine: HttpEngine,
  config: Config,
  tls: TlsFiles | undefined,
  addressOf: AddressOf,
  dispatchOf: (hosts: readonly Served[]) => Dispatch,
): Promise<readonly HostListener[]> {
  const open: HostListener[] = [];
  const busyPaths = busyPathsOf(config);
  try {
    for (const { address, hosts } of assignHosts(config)) {
      const dispatch = dispatchOf(hosts);
      const secured = tls !== undefined && !hosts.includes('ops') ? { tls } : {};
      const headers = hosts.includes('ops') ? {} : strictTransport(config);
      const options = { ...parseAddress(address), dispatch, headers, addressOf, busyPaths, ...secured };
      open.push({ listener: await listenRenewably(engine, options), hosts });
    }
    return open;
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
