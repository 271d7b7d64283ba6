import { mkdirSync } from 'node:fs';
import { runCommand } from '../run-command.ts';

/** The last number of each member's IP address. Each member of the scene has its own network namespace. */
const members = { node1: 11, node2: 12, node3: 13, twin: 14, postgres1: 21, postgres2: 22 } as const;

export type Place = keyof typeof members;

/** IP address of the balancer, the slow link and the clients. */
export const hub = '10.0.0.1';

export function getAddress(place: Place): string {
  return `10.0.0.${members[place]}`;
}

/** Returns the command prefix that runs a command in the namespace of a member. */
export function at(place: Place): string[] {
  return ['ip', 'netns', 'exec', place];
}

/** Firewall rules. They drop packets between two addresses if the pair is in the set. */
const firewall = `
table bridge chaos {
  set cut {
    type ipv4_addr . ipv4_addr
  }
  chain between {
    type filter hook forward priority 0
    ip saddr . ip daddr @cut drop
  }
  chain out {
    type filter hook output priority 0
    ip saddr . ip daddr @cut drop
  }
  chain in {
    type filter hook input priority 0
    ip saddr . ip daddr @cut drop
  }
}
`;

/**
 * An Ethernet with a port for every member. A member that is cut off gets no responses, as if its cable were unplugged.
 */
export class Network {
  readonly #cuts = new Map<string, readonly [string, string]>();

  /** Creates the network, in separate network and mount namespaces. */
  static async lay(): Promise<Network> {
    mkdirSync('/run/netns', { recursive: true });
    await runCommand('mount', ['-t', 'tmpfs', 'none', '/run/netns']);
    await ip('link set dev lo up');
    await ip('link add name bridge0 type bridge');
    await ip(`addr add ${hub}/24 dev bridge0`);
    await ip('link set dev bridge0 up');
    for (const place of Object.keys(members) as Place[]) await plugIn(place);
    await runCommand('nft', ['-f', '-'], firewall);
    return new Network();
  }

  /** Drops all packets between two addresses. */
  async cut(a: string, b: string): Promise<void> {
    const key = formatPair(a, b);
    if (this.#cuts.has(key)) return;
    this.#cuts.set(key, [a, b]);
    await runCommand('nft', ['add', 'element', 'bridge', 'chaos', 'cut', elements(a, b)]);
  }

  async join(a: string, b: string): Promise<void> {
    if (!this.#cuts.delete(formatPair(a, b))) return;
    await runCommand('nft', ['delete', 'element', 'bridge', 'chaos', 'cut', elements(a, b)]);
  }

  async joinAll(): Promise<void> {
    for (const [a, b] of [...this.#cuts.values()]) await this.join(a, b);
  }
}

async function plugIn(place: Place): Promise<void> {
  await ip(`netns add ${place}`);
  await ip(`link add name v-${place} type veth peer name eth0 netns ${place}`);
  await ip(`link set dev v-${place} master bridge0 up`);
  await ip(`-n ${place} addr add ${getAddress(place)}/24 dev eth0`);
  await ip(`-n ${place} link set dev eth0 up`);
  await ip(`-n ${place} link set dev lo up`);
}

const ip = (text: string) => runCommand('ip', text.split(' '));
const formatPair = (a: string, b: string) => [a, b].sort().join(' ');
const elements = (a: string, b: string) => `{ ${a} . ${b}, ${b} . ${a} }`;
