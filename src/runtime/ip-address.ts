import { isIPv4, isIPv6 } from 'node:net';

/**
 * The canonical form of an address: IPv4 unchanged, IPv6 by RFC 5952, and IPv4-mapped IPv6 (`::ffff:192.0.2.1`) as IPv4.
 * @returns `undefined` if it is not an address, or has a zone
 */
export function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const groups = groupsOf(text);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return shortened(groups);
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The address of a connection without its zone (`%eth0`), which only this machine knows. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0]!;
}

/** The eight groups of an IPv6 address without a zone. */
export function groupsOf(address: string): number[] {
  const [left = '', right = ''] = address.split('::');
  const first = numbersIn(left);
  const last = numbersIn(right);
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

/** The groups of a part of an address, whose end may be in IPv4 notation. */
function numbersIn(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

/** Replaces the longest run of zeros by `::`, the first one of equal runs. */
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
 * The key by which unauthenticated senders are counted: an IPv4 address, or the first 64 bits of an IPv6 address, since one
 * customer has all the others. Any other text is returned unchanged.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(withoutZone(address));
  if (plain === undefined) return address;
  if (!isIPv6(plain)) return plain;
  const network = groupsOf(plain)
    .slice(0, 4)
    .map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
