/**
 * src/http/connections: what keeps one address from taking the connections of all others. limiter.ts looks when open files run
 * low, surplus.ts decides which connections have to go.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { IpNetworks } from '../../runtime/ip-networks.ts';
import type { Log } from '../../runtime/log.ts';
import { networkOf } from '../../runtime/network.ts';
import type { Descriptors, Peer } from './descriptors.ts';
import { surplusOf } from './surplus.ts';

export interface LimiterOptions {
  readonly descriptors: Descriptors;
  /** The ports of the listeners. */
  readonly ports: ReadonlySet<number>;
  readonly trusted: Pick<IpNetworks, 'has'>;
  /** Connections of one address; 0 is no limit. */
  readonly perAddress?: number | undefined;
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Most connections of one address, unless it is set. */
const usualPerAddress = 16_384;

/** Part of the open files that connections leave free, for new ones and for files. */
const reserve = 1 / 4;

/** Time between two looks, ms. After one that took long, the next one waits several times as long, but not longer than this. */
const lookEveryMs = 100;
const restFactor = 5;
const maxRestMs = 1_000;

/** Time between two warnings, ms. */
const warnEveryMs = 60_000;

/** The limit of one address that holds without a setting. */
export function usualLimit(files: number): number {
  return Math.min(usualPerAddress, Math.floor(files / 4));
}

/**
 * Closes connections when one address has too many, or when all together leave too few open files: µWebSockets and node:net
 * accept until there is no file left, and then answer no one.
 */
export class ConnectionLimiter {
  /** Connections that were closed. */
  closed = 0;
  readonly #options: LimiterOptions;
  readonly #perAddress: number;
  #timer: NodeJS.Timeout | undefined;
  #restUntil = Number.NEGATIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    const { perAddress = usualLimit(options.descriptors.limit) } = options;
    this.#perAddress = perAddress === 0 ? Number.POSITIVE_INFINITY : perAddress;
  }

  /** Looks now and then. */
  start(): void {
    this.#timer = setInterval(() => this.look(), lookEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Closes what is too much. While few files are open, this costs two system calls. */
  look(): void {
    const { descriptors, clock } = this.#options;
    const began = clock.monotonic();
    if (began < this.#restUntil) return;
    const most = Math.floor((1 - reserve) * descriptors.limit);
    if (descriptors.next() < Math.min(this.#perAddress, most)) return;
    this.#closeSurplus(most);
    this.#restUntil = began + Math.min(maxRestMs, restFactor * (clock.monotonic() - began));
    this.#warn(began);
  }

  #closeSurplus(most: number): void {
    const { descriptors, ports } = this.#options;
    const { peers, others } = descriptors.peersAt(ports);
    const sources = this.#sourcesOf(peers);
    const connections = peers.map((peer) => ({ ...peer, from: sources.get(peer.address) }));
    const room = { perAddress: this.#perAddress, total: Math.max(0, most - others) };
    const surplus = surplusOf(connections, room);
    for (const { descriptor } of surplus) descriptors.shutDown(descriptor);
    this.closed += surplus.length;
    this.#unsaid += surplus.length;
  }

  /** Who is behind each address: an IPv6 client has a whole /64, and a trusted proxy is not one client. */
  #sourcesOf(peers: readonly Peer[]): ReadonlyMap<string, string | undefined> {
    const sources = new Map<string, string | undefined>();
    for (const { address } of peers) {
      if (sources.has(address)) continue;
      sources.set(address, this.#options.trusted.has(address) ? undefined : networkOf(address));
    }
    return sources;
  }

  #warn(now: number): void {
    if (this.#unsaid === 0 || now < this.#warnedAt + warnEveryMs) return;
    const { log, descriptors } = this.#options;
    log.warn('closed surplus connections', {
      closed: this.#unsaid,
      openFilesLimit: descriptors.limit,
      hint: 'one address had more than --max-connections-per-address, or open files ran low; see docs/operations.md',
    });
    this.#unsaid = 0;
    this.#warnedAt = now;
  }
}
