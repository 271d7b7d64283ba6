import { isIPv4, isIPv6 } from 'node:net';

/**
 * The one way to write an address: IPv4 as it is, IPv6 in lower case and shortened, and IPv4 within IPv6 (`::ffff:192.0.2.1`) as
 * IPv4.
 * @returns `undefined` for what is no address, and for one with a zone
 */
export function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  // A URL writes it so.
  const plain = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const groups = groupsOf(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return plain;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight groups of a plain IPv6 address. */
export function groupsOf(plain: string): number[] {
  const [left = '', right = ''] = plain.split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [first, last] = [numbers(left), numbers(right)];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}
