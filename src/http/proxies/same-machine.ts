import { plainAddress, withoutZone } from '../../runtime/ip-address.ts';
import { IpNetworks } from '../../runtime/ip-networks.ts';
import type { Request } from '../types.ts';

const loopback = new IpNetworks(['loopback']);

/** Headers that proxies add to a request. */
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
