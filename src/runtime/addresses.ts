import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Splits a valid `HOST:PORT`. An empty host means all local IPv4 addresses.
 * @returns the host without brackets, as socket functions expect
 */
export function parseAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host: host === '' ? '0.0.0.0' : host, port: Number(address.slice(colon + 1)) };
}

/** Formats an authority such as `HOST:PORT`. An IPv6 host is in brackets. */
export function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns the canonical form of an address: IPv4 unchanged, IPv6 by RFC 5952, and IPv4-mapped IPv6 (`::ffff:192.0.2.1`)
 * as IPv4.
 * @returns `undefined` for a text that is not an address, or an address with a zone
 */
export function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const groups = parseGroups(text);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return shortened(groups);
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** Removes the zone (`%eth0`) from the address of a connection, because only this machine knows its zones. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0]!;
}

/** Returns the eight groups of an IPv6 address without a zone. */
export function parseGroups(address: string): number[] {
  const [left = '', right = ''] = address.split('::');
  const first = numbersIn(left);
  const last = numbersIn(right);
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

function numbersIn(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

/** Replaces the longest run of zeros by `::`. If several runs are equally long, replaces the first of these runs. */
function shortened(groups: readonly number[]): string {
  const [from, length] = longestZeros(groups);
  const text = groups.map((group) => group.toString(16));
  if (length < 2) return text.join(':');
  return `${text.slice(0, from).join(':')}::${text.slice(from + length).join(':')}`;
}

function longestZeros(groups: readonly number[]): [from: number, length: number] {
  let longest: [number, number] = [0, 0];
  let length = 0;
  for (const [at, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest[1]) longest = [at - length + 1, length];
  }
  return longest;
}

/**
 * Returns the key by which unauthenticated senders are counted: an IPv4 address, or the first 64 bits of an IPv6
 * address. These bits are the same in all addresses of one customer. Any other text is returned unchanged.
 */
export function findNetwork(address: string): string {
  const plain = plainAddress(withoutZone(address));
  if (plain === undefined) return address;
  if (!isIPv6(plain)) return plain;
  const network = parseGroups(plain)
    .slice(0, 4)
    .map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

export class IpNetworks {
  #list = new BlockList();

  /**
   * @param entries addresses, networks such as `10.0.0.0/8`, and the names `loopback` and `private`
   * @throws {Error} that names the invalid entry. The caller puts "Cannot use …:" before the message
   */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const networks = Object.hasOwn(named, entry) ? named[entry]! : [entry];
      for (const network of networks) this.#add(network);
    }
  }

  /** Replaces the networks by the networks of `other`, so that all holders of this object use the new networks. */
  become(other: IpNetworks): void {
    this.#list = other.#list;
  }

  has(address: string): boolean {
    if (isIPv4(address)) return this.#list.check(address, 'ipv4');
    return isIPv6(address) && this.#list.check(address, 'ipv6');
  }

  #add(network: string): void {
    const [text = '', length] = network.split('/', 2);
    const address = plainAddress(text);
    if (address === undefined || network.split('/').length > 2) throw notOne(network);
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (length === undefined) this.#list.addAddress(address, family);
    else this.#list.addSubnet(address, parseLength(length, network, family), family);
  }
}

function parseLength(length: string, network: string, family: 'ipv4' | 'ipv6'): number {
  if (family === 'ipv4' && network.includes(':')) throw new Error(`${network} must be written as an IPv4 network`);
  const most = family === 'ipv4' ? 32 : 128;
  if (!/^\d{1,3}$/.test(length) || Number(length) > most)
    throw new Error(`${network} must end in a length from /1 to /${most}`);
  if (Number(length) === 0) throw new Error(`${network} matches every address`);
  return Number(length);
}

function notOne(entry: string): Error {
  const names = Object.keys(named).join(' or ');
  const shown = entry === '' ? 'an empty entry' : entry;
  return new Error(`${shown} is not an address, a network such as 10.0.0.0/8, ${names}`);
}

/** @throws {Error} as the constructor does */
export function readNetworks(list: string): IpNetworks {
  return new IpNetworks(list.split(',').map((entry) => entry.trim()));
}
