import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Refusal } from '../../contract/errors.ts';
import { hasPortZero } from '../../contract/port-zero.ts';
import { IpNetworks } from '../../runtime/addresses.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** IPv4 ranges that are not public, such as the service's own network (IANA special-purpose registry, RFC 6890). */
const special4 = new IpNetworks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  '168.63.129.16/32', // Azure: the host's services for its virtual machines
]);

/**
 * The public IPv6 range (RFC 4291 §2.4), and the special ranges in it. All addresses outside the public range are
 * refused: loopback, link-local and unique local addresses, and addresses that embed an IPv4 address.
 */
const global6 = new IpNetworks(['2000::/3']);
const special6 = new IpNetworks([
  '2001::/23', // Teredo, ORCHID and others
  '2001:db8::/32',
  '2002::/16', // 6to4: embeds an IPv4 address
  '3fff::/20',
]);

export function isPublic({ address, family }: Address): boolean {
  if (isIP(address) !== family || address.includes('%')) return false;
  if (family === 4) return !special4.has(address);
  return global6.has(address) && !special6.has(address);
}

function addressIn({ hostname }: URL): Address | undefined {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family === 4 || family === 6 ? { address, family } : undefined;
}

const maxUrlLength = 2048;

export function urlRule(allowPrivate: boolean): string {
  const scheme = allowPrivate ? 'https: or http:' : 'https:';
  const where = allowPrivate ? '' : ', with a public host';
  return `must be a URL of ${scheme}${where}, without user, port 0, fragment, spaces and backslashes, of at most ${maxUrlLength} characters`;
}

/**
 * Checks the URL itself. The addresses of its host are checked at each request.
 * @param allowPrivate true if private networks are allowed, also without TLS
 * @throws {Refusal} `invalid_body`
 */
export function checkUrl(text: string, allowPrivate: boolean, field = 'url'): void {
  // The URL parser drops spaces and control characters, so a person could read another address in the URL.
  const url = !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const isFit =
    url !== undefined &&
    text.length <= maxUrlLength &&
    (url.protocol === 'https:' || (allowPrivate && url.protocol === 'http:')) &&
    `${url.username}${url.password}${url.hash}` === '' &&
    !hasPortZero(text) &&
    (allowPrivate || isOfInternet(url));
  if (!isFit) throw new Refusal('invalid_body', `\`${field}\` ${urlRule(allowPrivate)}`);
}

/** False if the URL itself shows that its host is not public. */
export function isOfInternet(url: URL): boolean {
  const address = addressIn(url);
  return address === undefined ? !/(^|\.)localhost\.?$/.test(url.hostname) : isPublic(address);
}

/** @throws {Error} if the name has no addresses, or the name servers do not respond in time */
type Resolve = (name: string) => Promise<readonly Address[]>;

/** Timeout of an attempt to query a name server, ms. A query has two attempts. */
const tryMs = 2000;

/**
 * Returns a function that queries the name servers of the machine. `getaddrinfo` would occupy a pool thread while a
 * name server does not respond, and delay commits, which use the same pool.
 * @param orSystem true if names that the name servers do not know are also looked up in the hosts file
 */
export function resolver(orSystem: boolean): Resolve {
  return async (name) => {
    const asking = new Resolver({ timeout: tryMs, tries: 2 });
    const [v4, v6] = await Promise.allSettled([asking.resolve4(name), asking.resolve6(name)]);
    const found = [...readAddresses(v4, 4), ...readAddresses(v6, 6)];
    if (found.length > 0) return found;
    if (orSystem) return (await lookup(name, { all: true })) as Address[];
    throw new Error(whyNot(v4));
  };
}

function readAddresses(result: PromiseSettledResult<string[]>, family: 4 | 6): Address[] {
  return result.status === 'rejected' ? [] : result.value.map((address) => ({ address, family }));
}

function whyNot(result: PromiseSettledResult<unknown>): string {
  const { code } = (result.status === 'rejected' ? result.reason : {}) as { code?: string };
  return code === 'ETIMEOUT' ? 'the name servers do not respond' : 'the host name does not resolve';
}

/** Addresses that a client of the service may reach. */
export interface Reach {
  readonly resolve: Resolve;
  /** True if private networks are allowed, also without TLS. */
  readonly allowPrivate: boolean;
  /** Name of the option that allows private networks. */
  readonly allowedBy: string;
}

export class PrivateAddress extends Error {}

/**
 * Returns the addresses of a URL's host. Connect only to these addresses: a second lookup could return other addresses.
 * @throws {Error} with a human-readable message if the host has no address; `PrivateAddress` if one is private
 */
export async function addressesFor(url: URL, { resolve, allowPrivate, allowedBy }: Reach): Promise<readonly Address[]> {
  const own = addressIn(url);
  const found = own === undefined ? await resolve(url.hostname) : [own];
  if (found.length === 0) throw new Error('the host name does not resolve');
  if (allowPrivate || found.every(isPublic)) return found;
  throw new PrivateAddress(`the address is not public; the operator of the service can allow it with ${allowedBy}`);
}
