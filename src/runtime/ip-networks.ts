import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { plainAddress } from './ip-address.ts';

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

export class IpNetworks {
  #list = new BlockList();

  /**
   * @param entries addresses, networks such as `10.0.0.0/8`, and the names `loopback` and `private`
   * @throws {Error} with the invalid entry, to complete the sentence "Cannot use … :"
   */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const networks = Object.hasOwn(named, entry) ? named[entry]! : [entry];
      for (const network of networks) this.#add(network);
    }
  }

  /** Replaces its networks with those of another set, for all holders at once. */
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
    else this.#list.addSubnet(address, lengthOf(length, network, family), family);
  }
}

function lengthOf(length: string, network: string, family: 'ipv4' | 'ipv6'): number {
  if (family === 'ipv4' && network.includes(':'))
    throw new Error(`${network} must be written as an IPv4 network`);
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

/** Parses a comma-separated list. @throws {Error} as the constructor does */
export function readNetworks(list: string): IpNetworks {
  return new IpNetworks(list.split(',').map((entry) => entry.trim()));
}
