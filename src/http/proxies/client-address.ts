/**
 * src/http/proxies: where a request comes from when a proxy is in between. client-address.ts decides it, with what the proxy's
 * header says.
 */
import { plainAddress, withoutZone } from '../../runtime/ip-address.ts';
import { IpNetworks } from '../../runtime/ip-networks.ts';
import type { Log } from '../../runtime/log.ts';
import type { AddressOf } from '../types.ts';
import { forwardedNodes } from './forwarded.ts';
import { forwardedForNodes } from './forwarded-for.ts';

/** What the headers that proxies write say, the last proxy's word first. */
const readers = {
  'x-forwarded-for': forwardedForNodes,
  forwarded: forwardedNodes,
} as const;

export interface Proxies {
  /** Those whose word counts. */
  readonly trusted: IpNetworks;
  /** The header that they write. Any other is what the client has sent: proxies pass on what they do not know. */
  readonly header: keyof typeof readers;
  readonly log: Pick<Log, 'warn'>;
}

/** Where a proxy of one's own may be. */
const near = new IpNetworks(['loopback', 'private']);

/**
 * Finds the address of a request's client: that of its connection, unless a proxy is there that is trusted. It is asked for when
 * something needs the address, which packets never do.
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
      log.warn('the header of a proxy is not believed', { header, from: peer, hint });
    }
    return peer;
  };
}

const hint =
  'if a proxy of yours has this address, give it to --trusted-proxies: until then all of its clients are counted as one';

/** Goes from proxy to proxy, back to the first one that is not trusted: nothing before it can be known. */
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

/** An address with or without a port; in brackets that of IPv6, which some proxies leave out. */
const withPort = /^(?:\[(?<six>[\da-f:.]+)\]|(?<four>[\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/i;

/** `undefined` for `unknown`, for a made-up name (`_gateway`), and for what is malformed. */
function addressOf(node: string): string | undefined {
  const { six, four } = withPort.exec(node)?.groups ?? {};
  if (six !== undefined && !six.includes(':')) return undefined;
  return plainAddress(six ?? four ?? node);
}
