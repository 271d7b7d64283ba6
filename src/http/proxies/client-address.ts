import { plainAddress, withoutZone } from '../../runtime/ip-address.ts';
import { IpNetworks } from '../../runtime/ip-networks.ts';
import type { Log } from '../../runtime/log.ts';
import type { AddressOf, Request } from '../types.ts';
import { forwardedForNodes, forwardedNodes } from './forwarded.ts';

/** src/http/proxies: the client address of a request behind a proxy. client-address.ts determines it from the proxy's header. */

/** Parsers of the headers that proxies write, last proxy first. */
const readers = {
  'x-forwarded-for': forwardedForNodes,
  forwarded: forwardedNodes,
} as const;

export interface Proxies {
  readonly trusted: IpNetworks;
  /** The header that they write. Any other comes from the client: proxies forward headers they do not know. */
  readonly header: keyof typeof readers;
  readonly log: Pick<Log, 'warn'>;
}

/** Networks likely to contain the operator's own proxies. */
const near = new IpNetworks(['loopback', 'private']);

/**
 * Determines the address of a request's client: that of its connection, unless a trusted proxy is in between. It is evaluated
 * only when needed, which packets never do.
 */
export function clientAddress({ trusted, header, log }: Proxies): AddressOf {
  let hasWarned = false;
  return (connected, request) => {
    const peer = plainAddress(withoutZone(connected)) ?? connected;
    const said = request.header(header);
    if (said === undefined) return peer;
    if (trusted.has(peer)) return follow(peer, readers[header](said), trusted);
    if (!hasWarned && near.has(peer)) {
      hasWarned = true;
      log.warn('ignoring the header of an untrusted proxy', { header, from: peer, hint });
    }
    return peer;
  };
}

const hint =
  'if this is your proxy, add its address to --trusted-proxies; until then all of its clients count as one';

/** Follows the proxies back to the first untrusted address. Anything before it is unverified. */
function follow(peer: string, nodes: Iterable<string | undefined>, trusted: IpNetworks): string {
  let address = peer;
  for (const node of nodes) {
    const next = node === undefined ? undefined : addressOf(node);
    if (next === undefined) return address;
    address = next;
    if (!trusted.has(next)) return next;
  }
  return address;
}

/** An address with or without a port. IPv6 needs brackets, which some proxies omit. */
const withPort = /^(?:\[(?<six>[\da-f:.]+)\]|(?<four>[\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/i;

/** Returns `undefined` for `unknown`, for an obfuscated name (`_gateway`), and for malformed nodes. */
function addressOf(node: string): string | undefined {
  const { six, four } = withPort.exec(node)?.groups ?? {};
  if (six !== undefined && !six.includes(':')) return undefined;
  return plainAddress(six ?? four ?? node);
}

const loopback = new IpNetworks(['loopback']);

const addedByProxies = [
  'x-forwarded-for',
  'forwarded',
  'via',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Whether a request comes from this machine itself. A request forwarded by a local proxy does not. */
export function isFromSameMachine(
  request: Pick<Request, 'remoteAddress' | 'header'>,
  trusted: Pick<IpNetworks, 'has'>,
): boolean {
  if (addedByProxies.some((name) => request.header(name) !== undefined)) return false;
  const address = plainAddress(withoutZone(request.remoteAddress));
  return address !== undefined && loopback.has(address) && !trusted.has(address);
}
