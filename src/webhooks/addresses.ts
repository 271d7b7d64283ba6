import { isIP } from 'node:net';
import { ApiError } from '../contract/errors.ts';
import { IpNetworks } from '../runtime/ip-networks.ts';

/** An address that was found for a name, or that a URL has. */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** What no one on the internet has: the service may reach its own network there (IANA special-purpose registry, RFC 6890). */
const special4 = new IpNetworks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  '168.63.129.16/32', // Azure: what the machine asks of its host
]);

/**
 * All of the internet (RFC 4291 §2.4), and what in it is special. What is not in it cannot be reached: loopback, link-local and
 * unique local addresses, and addresses that hold one of IPv4 (`::ffff:0:0/96`, `64:ff9b::/96`).
 */
const global6 = new IpNetworks(['2000::/3']);
const special6 = new IpNetworks([
  '2001::/23', // Teredo, ORCHID and others
  '2001:db8::/32',
  '2002::/16', // 6to4: holds an address of IPv4
  '3fff::/20',
]);

/** Whether an address is one of the internet, and not of a network of one's own. */
export function isPublic({ address, family }: Address): boolean {
  if (isIP(address) !== family || address.includes('%')) return false;
  if (family === 4) return !special4.has(address);
  return global6.has(address) && !special6.has(address);
}

/** The address that a URL has in place of a name. */
export function addressIn({ hostname }: URL): Address | undefined {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family === 4 || family === 6 ? { address, family } : undefined;
}

const maxUrlLength = 2048;

/** What a URL must be, for people. */
export function urlRule(allowPrivate: boolean): string {
  const scheme = allowPrivate ? 'https: or http:' : 'https:';
  const where = allowPrivate ? '' : ', of a host on the internet';
  return `must be a URL of ${scheme}${where}, without user, fragment, spaces and backslashes, of at most ${maxUrlLength} characters`;
}

/**
 * Checks what a URL says by itself. What its name leads to is checked at each delivery.
 * @param allowPrivate whether networks of one's own may be reached, also without TLS
 * @throws {ApiError} `invalid_body`
 */
export function checkUrl(text: string, allowPrivate: boolean): void {
  // The parser passes over spaces, control characters and the like; people who read the address would see another one.
  const url = !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const isFit =
    url !== undefined &&
    text.length <= maxUrlLength &&
    (url.protocol === 'https:' || (allowPrivate && url.protocol === 'http:')) &&
    `${url.username}${url.password}${url.hash}` === '' &&
    (allowPrivate || isOfInternet(url));
  if (!isFit) throw new ApiError('invalid_body', `Cannot take url: ${urlRule(allowPrivate)}`);
}

function isOfInternet(url: URL): boolean {
  const address = addressIn(url);
  return address === undefined ? !/(^|\.)localhost\.?$/.test(url.hostname) : isPublic(address);
}
