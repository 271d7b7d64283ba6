import { isIPv6 } from 'node:net';
import { groupsOf, plainAddress, withoutZone } from './ip-address.ts';

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
