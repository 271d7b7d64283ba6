import { UsageError } from '../cli/options.ts';
import type { RenewableListener } from '../http/tls.ts';
import type { AddressFinder, Dispatch, ListenOptions, TlsFiles } from '../http/types.ts';
import { telemetryPath } from '../ingest/formats/telemetry/format.ts';
import type { GrpcListener } from '../ingest/grpc/listener.ts';
import { authority, parseAddress } from '../runtime/addresses.ts';
import type { Log } from '../runtime/log.ts';
import type { Config } from './config/config.ts';

const hosts = ['auth', 'api', 'metrics'] as const;
export type Host = (typeof hosts)[number];

/** The host whose routes a listener serves, next to the health routes. `ops` serves the service's own metrics. */
export type ServedHost = Host | 'ops';

export interface HostListener {
  readonly listener: RenewableListener;
  readonly hosts: readonly ServedHost[];
  /** Options of the listener if front-end threads share its address. */
  readonly shared?: ListenOptions;
}

/** Lists the paths that programs request most often. */
function listBusyPaths({ metricsPathPrefix = '' }: Config): readonly string[] {
  const packets = [telemetryPath, '/api/frontend/identities', '/api/usage/stats', '/api/metrics'];
  const prefixed = `${metricsPathPrefix}${telemetryPath}`;
  return [...new Set([...packets, prefixed, '/connect/token', '/api/v2/applications'])];
}

/** Returns the address to bind: 127.0.0.1 for `localhost`. The name can also stand for ::1, but clients try both. */
function bindAddress(address: string): { host: string; port: number } {
  const { host, port } = parseAddress(address);
  return { host: host === 'localhost' ? '127.0.0.1' : host, port };
}

/** True if gRPC and HTTP share an address and its port. Addresses with port 0 get different ports. */
function isOnePort({ grpcListen }: Config, address: string): boolean {
  const http = bindAddress(address);
  const grpc = bindAddress(grpcListen);
  return http.port !== 0 && http.port === grpc.port && http.host === grpc.host;
}

/** Returns the hosts of each address. Hosts without a separate address share `--listen`. */
export function assignHosts(config: Config): readonly { address: string; hosts: readonly ServedHost[] }[] {
  const own = { auth: config.authListen, api: config.apiListen, metrics: config.metricsListen };
  const shared = hosts.filter((host) => own[host] === undefined);
  const single = hosts.flatMap((host) => (own[host] === undefined ? [] : [{ address: own[host], hosts: [host] }]));
  const ops = config.opsListen === undefined ? [] : [{ address: config.opsListen, hosts: ['ops' as const] }];
  const common = shared.length === 0 ? [] : [{ address: config.listen, hosts: shared }];
  return [...common, ...single, ...ops];
}

interface Openers {
  http(options: ListenOptions): Promise<RenewableListener>;
  grpc(options: ListenOptions): Promise<GrpcListener>;
  readonly findAddress: AddressFinder;
  /** True if front-end threads also listen on the address of the metrics host. */
  readonly shares: boolean;
  findDispatch(hosts: readonly ServedHost[]): Dispatch;
}

/**
 * Opens every listener. The first listener is `--listen`, unless every host has a separate address. The gRPC listener
 * also serves the HTTP hosts of its address. Without such a host, it serves the metrics host, whose clients also use
 * gRPC. The `ops` listener has no TLS: scrapers use an address in the local network, which no certificate names.
 */
export async function listen(
  config: Config,
  tls: TlsFiles | undefined,
  openers: Openers,
): Promise<{ readonly listeners: readonly HostListener[]; readonly grpc: GrpcListener }> {
  const open: HostListener[] = [];
  const createOptions = (address: string, hosts: readonly ServedHost[]): ListenOptions => ({
    ...bindAddress(address),
    dispatch: openers.findDispatch(hosts),
    headers: hosts.includes('ops') ? {} : strictTransport(config),
    findAddress: openers.findAddress,
    busyPaths: listBusyPaths(config),
    ...(tls !== undefined && !hosts.includes('ops') && { tls }),
  });
  let grpc: GrpcListener | undefined;
  const openGrpc = async (hosts: readonly ServedHost[]) => {
    grpc = await openers.grpc(createOptions(config.grpcListen, hosts));
    open.push({ listener: grpc, hosts });
    return grpc;
  };
  const openHttp = async (address: string, hosts: readonly ServedHost[]): Promise<HostListener> => {
    const options = createOptions(address, hosts);
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
 * Returns an HSTS header for one year if all public URLs are https (RFC 6797). HSTS applies to all ports of a host
 * name. The header is omitted for `localhost`, whose other ports belong to other servers.
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

/** URLs that clients use: the issuer of tokens, their audience, and the metrics host. */
type PublicUrls = Readonly<Record<Host, string>>;

const urlOptions: Readonly<Record<Host, string>> = { auth: '--auth-url', api: '--base-url', metrics: '--metrics-url' };

/**
 * Returns the public URLs. They are not derived from requests, because a client can send any Host header.
 * @param listeners with their bound ports
 */
export function publicUrls(config: Config, listeners: readonly HostListener[]): PublicUrls {
  const findUrl = (host: Host) => {
    const { listener } = listeners.find((each) => each.hosts.includes(host))!;
    const { address } = assignHosts(config).find(({ hosts }) => hosts.includes(host))!;
    return givenUrl(config, host) ?? urlAt(parseAddress(address).host, listener.port, config.tlsCert !== undefined);
  };
  return { auth: findUrl('auth'), api: findUrl('api'), metrics: findUrl('metrics') };
}

/**
 * Checks that each host has a URL: from the settings, or implied by its address. The address `0.0.0.0` implies no URL.
 * @throws {UsageError} that names the options to set
 */
export function checkPublicUrls(config: Config): void {
  for (const { address, hosts: served } of assignHosts(config)) {
    if (namesOneHost(address)) continue;
    const missing = urlsMissing(
      config,
      hosts.filter((host) => served.includes(host)),
    );
    // A URL of the token host also applies to the other hosts of its listener.
    const needed = missing.includes(urlOptions.auth) ? [urlOptions.auth] : missing;
    if (needed.length === 0) continue;
    const [flag] = needed as [string];
    const variable = `FLAGMETER_${flag.slice(2).replace('-', '_').toUpperCase()}`;
    throw new UsageError(
      `Cannot listen on ${address} without ${needed.join(' and ')}: clients need a public URL. ` +
        `Set it with ${flag} or ${variable}, such as ${flag} https://flags.example.com`,
    );
  }
}

/** @returns the options that set the missing URLs of these hosts */
export function urlsMissing(config: Config, of: readonly Host[]): readonly string[] {
  return of.filter((host) => givenUrl(config, host) === undefined).map((host) => urlOptions[host]);
}

/** Warns of sign-ins over plain HTTP, except on the same machine. */
export function warnOfPlainPasswords({ auth }: PublicUrls, log: Log): void {
  const { protocol, hostname } = new URL(auth);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  const hint = 'set --tls-cert and --tls-key, or put a proxy with TLS in front; then set --auth-url to the https URL';
  log.warn('passwords and tokens travel without TLS', { authUrl: auth, hint });
}

/** Returns the URL of a host from the settings: its own URL, or the URL of the token host on the same listener. */
function givenUrl(config: Config, host: Host): string | undefined {
  const own = { auth: config.authUrl, api: config.baseUrl, metrics: config.metricsUrl };
  const listen = { auth: config.authListen, api: config.apiListen, metrics: config.metricsListen };
  const isShared = listen[host] === undefined && listen.auth === undefined;
  return own[host] ?? (isShared ? own.auth : undefined);
}

function urlAt(host: string, port: number, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${authority(host, port)}`;
}

const everyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '[::]', '[::ffff:0:0]']);

/** True if the address can be part of a URL for clients. An address with a zone (`fe80::1%eth0`) cannot be in a URL. */
function namesOneHost(address: string): boolean {
  const { host, port } = parseAddress(address);
  const url = urlAt(host, port, false);
  return URL.canParse(url) && !everyAddress.has(new URL(url).hostname);
}

function isLoopback(hostname: string): boolean {
  return /^(127\..*|\[::1\]|(.*\.)?localhost)$/.test(hostname);
}
