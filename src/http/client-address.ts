import { IpNetworks, plainAddress, withoutZone } from '../runtime/addresses.ts';
import type { Log } from '../runtime/log.ts';
import type { AddressFinder, Request } from './types.ts';

/** Parsers of the headers that proxies write. They yield the entry of the last proxy first. */
const readers = { 'x-forwarded-for': forwardedForNodes, forwarded: forwardedNodes } as const;

export interface Proxies {
  readonly trusted: IpNetworks;
  /** Header that the proxies write. Other forwarding headers are ignored, because a client can forge them. */
  readonly header: keyof typeof readers;
  readonly log: Pick<Log, 'warn'>;
}

/** Networks likely to contain the operator's own proxies. A warning is logged if such a proxy is not trusted. */
const near = new IpNetworks(['loopback', 'private']);

/**
 * Returns a function that finds the address of a request's client. Without a trusted proxy, it is the address of the
 * connection. The function is called only for requests that need the address; packets do not.
 */
export function clientAddress({ trusted, header, log }: Proxies): AddressFinder {
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

const hint = 'if this is your proxy, add its address to --trusted-proxies; until then all of its clients count as one';

/**
 * Follows the entries from the last proxy back to the first untrusted address, which is the client. Earlier entries are
 * ignored, because the client can forge them.
 */
function follow(peer: string, nodes: Iterable<string | undefined>, trusted: IpNetworks): string {
  let address = peer;
  for (const node of nodes) {
    const next = node === undefined ? undefined : parseNode(node);
    if (next === undefined) return address;
    address = next;
    if (!trusted.has(next)) return next;
  }
  return address;
}

/** Pattern of an IPv4 address or an IPv6 address in brackets, with or without a port. */
const withPort = /^(?:\[(?<six>[\da-f:.]+)\]|(?<four>[\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/i;

/**
 * Parses a node of a forwarding header. Returns `undefined` for `unknown`, for an obfuscated name (`_gateway`), and for
 * malformed nodes.
 */
function parseNode(node: string): string | undefined {
  const { six, four } = withPort.exec(node)?.groups ?? {};
  if (six !== undefined && !six.includes(':')) return undefined;
  return plainAddress(six ?? four ?? node);
}

const loopback = new IpNetworks(['loopback']);

const addedByProxies = ['x-forwarded-for', 'forwarded', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** True if a program on this machine sent the request itself, not through a local proxy. */
export function isFromSameMachine(
  request: Pick<Request, 'remoteAddress' | 'header'>,
  trusted: Pick<IpNetworks, 'has'>,
): boolean {
  if (addedByProxies.some((name) => request.header(name) !== undefined)) return false;
  const address = plainAddress(withoutZone(request.remoteAddress));
  return address !== undefined && loopback.has(address) && !trusted.has(address);
}

/**
 * Yields the `for` of each element of `Forwarded` (RFC 7239), last element first. An element without `for` or a
 * malformed element yields `undefined` and ends the search. The text is parsed from the end. Its beginning can come
 * from the client, and an unclosed quote there would hide the elements of the proxies.
 */
export function* forwardedNodes(text: string): Generator<string | undefined, void, void> {
  for (let end = text.length; end >= 0; ) {
    const element = elementBefore(text, end);
    if (element === undefined) return yield undefined;
    if (!element.isEmpty) yield element.node;
    if (!element.isEmpty && element.node === undefined) return;
    end = element.start - 1;
  }
}

interface Element {
  readonly start: number;
  readonly isEmpty: boolean;
  readonly node: string | undefined;
}

function elementBefore(text: string, end: number): Element | undefined {
  let node: string | undefined;
  let isEmpty = true;
  for (let at = beforeBlanks(text, end); ; at = beforeBlanks(text, at)) {
    if (at === 0 || text[at - 1] === ',') return { start: at, isEmpty, node };
    if (text[at - 1] === ';') {
      at -= 1;
      continue;
    }
    const pair = pairBefore(text, at);
    if (pair === undefined || (pair.name === 'for' && node !== undefined)) return undefined;
    if (pair.name === 'for') node = pair.value;
    isEmpty = false;
    at = beforeBlanks(text, pair.start);
    if (at > 0 && text[at - 1] !== ',' && text[at - 1] !== ';') return undefined;
  }
}

interface Pair {
  readonly start: number;
  readonly name: string;
  readonly value: string;
}

function pairBefore(text: string, end: number): Pair | undefined {
  const isQuoted = text[end - 1] === '"';
  const from = isQuoted ? quoteBefore(text, end - 1) : wordStart(text, end);
  if (from === undefined || from === end || text[from - 1] !== '=') return undefined;
  const start = wordStart(text, from - 1);
  if (start === from - 1) return undefined;
  const value = isQuoted ? text.slice(from + 1, end - 1).replace(/\\(.)/gs, '$1') : text.slice(from, end);
  return { start, name: text.slice(start, from - 1).toLowerCase(), value };
}

function quoteBefore(text: string, close: number): number | undefined {
  if (isEscaped(text, close)) return undefined;
  for (let at = close - 1; at >= 0; at -= 1) if (text[at] === '"' && !isEscaped(text, at)) return at;
  return undefined;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

/** Characters of an unquoted value, including `:`, because some proxies write an address and port without quotes. */
const inWord = /[^\s",;=\\]/;

function wordStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && inWord.test(text[start - 1]!)) start -= 1;
  return start;
}

function beforeBlanks(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  return at;
}

/**
 * Yields the entries of `X-Forwarded-For`, last first. Each proxy appends one entry, so entries that a client wrote
 * come before all entries that proxies wrote.
 */
export function* forwardedForNodes(text: string): Generator<string, void, void> {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    const entry = text.slice(comma + 1, end).trim();
    if (entry !== '') yield entry;
    end = comma;
  }
}
