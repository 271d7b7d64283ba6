import { UsageError } from '../cli/flags.ts';
import { authority, parseAddress } from '../runtime/address.ts';
import type { Log } from '../runtime/log.ts';
import type { Config } from './config/config.ts';
import { assignHosts, type Host, type HostListener, hosts } from './listeners.ts';

/** The URLs that clients use: the issuer of tokens, their audience, and the metrics host. */
type PublicUrls = Readonly<Record<Host, string>>;

const flags: Readonly<Record<Host, string>> = {
  auth: '--auth-url',
  api: '--base-url',
  metrics: '--metrics-url',
};

/**
 * The public URLs. They never come from a request, whose Host header anyone can choose.
 * @param listeners with their bound ports
 */
export function publicUrls(config: Config, listeners: readonly HostListener[]): PublicUrls {
  const urlOf = (host: Host) => {
    const { listener } = listeners.find((each) => each.hosts.includes(host))!;
    return givenUrl(config, host) ?? urlAt(listener.host, listener.port, config.tlsCert !== undefined);
  };
  return { auth: urlOf('auth'), api: urlOf('api'), metrics: urlOf('metrics') };
}

/**
 * Refuses a listener whose address does not imply a URL, such as one on all addresses, unless the settings have one.
 * @throws {UsageError} that names the flags to set
 */
export function checkPublicUrls(config: Config): void {
  for (const { address, hosts: served } of assignHosts(config)) {
    if (namesOneHost(address)) continue;
    const missing = urlsMissing(
      config,
      hosts.filter((host) => served.includes(host)),
    );
    // Once the token host has a URL, the others on this listener share it.
    const needed = missing.includes(flags.auth) ? [flags.auth] : missing;
    if (needed.length === 0) continue;
    const [flag] = needed as [string];
    const variable = `FLAGMETER_${flag.slice(2).replace('-', '_').toUpperCase()}`;
    throw new UsageError(
      `Cannot listen on ${address} without ${needed.join(' and ')}: clients need a public URL. ` +
        `Set it with ${flag} or ${variable}, such as ${flag} https://flags.example.com`,
    );
  }
}

/** @returns the flags of the hosts without a URL in the settings */
export function urlsMissing(config: Config, of: readonly Host[]): readonly string[] {
  return of.filter((host) => givenUrl(config, host) === undefined).map((host) => flags[host]);
}

/** Warns of sign-ins over plain HTTP, except on the same machine. */
export function warnOfPlainPasswords({ auth }: PublicUrls, log: Log): void {
  const { protocol, hostname } = new URL(auth);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  const hint =
    'set --tls-cert and --tls-key, or put a proxy with TLS in front; then set --auth-url to the https URL';
  log.warn('passwords and tokens travel without TLS', { authUrl: auth, hint });
}

/** The URL of a host in the settings: its own, or that of the token host on the same listener. */
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

/** Whether the address can be in a URL that clients use. One with a zone (`fe80::1%eth0`) cannot. */
function namesOneHost(address: string): boolean {
  const { host, port } = parseAddress(address);
  const url = urlAt(host, port, false);
  return URL.canParse(url) && !everyAddress.has(new URL(url).hostname);
}

function isLoopback(hostname: string): boolean {
  return /^(127\..*|\[::1\]|(.*\.)?localhost)$/.test(hostname);
}
