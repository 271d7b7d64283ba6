import { findNetwork, type IpNetworks } from '../runtime/addresses.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

/** Limits that prevent one address from using all available connections. */

interface LimiterOptions {
  readonly descriptors: Descriptors;
  readonly ports: ReadonlySet<number>;
  readonly trusted: Pick<IpNetworks, 'has'>;
  /** Maximum connections of one address; 0 for no limit. */
  readonly perAddress?: number | undefined;
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

const usualPerAddress = 16_384;

/** Share of the open files limit that is reserved for new connections and for other files. */
const reserve = 1 / 4;

/** Interval between checks, ms. After a long check, it is `restFactor` times its duration, up to `maxRestMs`. */
const lookEveryMs = 100;
const restFactor = 5;
const maxRestMs = 1_000;

/** Interval between warnings, ms. */
const warnEveryMs = 60_000;

export function usualLimit(files: number): number {
  return Math.min(usualPerAddress, Math.floor(files / 4));
}

/**
 * Closes connections if one address has too many, or if too few file descriptors are free. Otherwise µWebSockets and
 * node:net accept connections until no descriptor is free, and then serve none.
 */
export class ConnectionLimiter {
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

  start(): void {
    this.#timer = setInterval(() => this.look(), lookEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Closes surplus connections. While few files are open, this costs two system calls. */
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
    const sources = this.#findSources(peers);
    const connections = peers.map((peer) => ({ ...peer, from: sources.get(peer.address) }));
    const room = { perAddress: this.#perAddress, total: Math.max(0, most - others) };
    const surplus = findSurplus(connections, room);
    for (const connection of surplus) descriptors.shutDown(connection);
    this.closed += surplus.length;
    this.#unsaid += surplus.length;
  }

  /** Maps addresses to clients. An IPv6 client is a /64 network. A trusted proxy maps to `undefined`. */
  #findSources(peers: readonly Peer[]): ReadonlyMap<string, string | undefined> {
    const sources = new Map<string, string | undefined>();
    for (const { address } of peers) {
      if (sources.has(address)) continue;
      sources.set(address, this.#options.trusted.has(address) ? undefined : findNetwork(address));
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

/** A connection to this process. */
export interface Peer {
  readonly descriptor: number;
  readonly address: string;
  readonly port: number;
  readonly answered: boolean;
  /** Time since data was last sent on the connection, or since the connection was opened, ms. */
  readonly quietMs: number;
}

export interface Descriptors {
  readonly limit: number;
  /**
   * Returns the descriptor that the next opened file will get. At least as many files are open. Costs two system calls.
   */
  next(): number;
  /**
   * Returns every connection to one of these ports, and the number of other open files. Leaves out sockets that are
   * about to be closed. Costs a few microseconds per file.
   */
  peersAt(ports: ReadonlySet<number>): { readonly peers: readonly Peer[]; readonly others: number };
  /**
   * Shuts a connection down. Its owner then reads the end of the stream and closes the socket. Does nothing if the
   * connection is already closed, because another file can have its descriptor.
   */
  shutDown(peer: Peer): void;
}

export interface OpenConnection extends Omit<Peer, 'address' | 'port'> {
  /** Client of the connection; `undefined` for a trusted proxy, which serves many clients. */
  readonly from: string | undefined;
}

interface Room {
  readonly perAddress: number;
  /** Maximum connections of all addresses. */
  readonly total: number;
}

/**
 * Chooses the connections to close. Each address keeps the `perAddress` connections with the most recent responses.
 * Connections that never got a response are closed first. If more than `total` remain, addresses with the most
 * connections lose more of them.
 */
export function findSurplus<Each extends OpenConnection>(open: readonly Each[], { perAddress, total }: Room): Each[] {
  const ranked = rank(open);
  const surplus = ranked.filter((each) => each.rank >= perAddress);
  const rest = ranked.filter((each) => each.rank < perAddress);
  rest.sort((a, b) => b.rank - a.rank || answeredFirst(b.connection, a.connection));
  return [...surplus, ...rest.slice(0, Math.max(0, rest.length - total))].map(({ connection }) => connection);
}

interface RankedConnection<Each> {
  readonly connection: Each;
  /** Number of connections of the same address with a later response; 0 for a trusted proxy. */
  readonly rank: number;
}

function rank<Each extends OpenConnection>(open: readonly Each[]): RankedConnection<Each>[] {
  const ranks = new Map<string, number>();
  return open.toSorted(answeredFirst).map((connection) => {
    const { from } = connection;
    if (from === undefined) return { connection, rank: 0 };
    const rank = ranks.get(from) ?? 0;
    ranks.set(from, rank + 1);
    return { connection, rank };
  });
}

function answeredFirst(a: OpenConnection, b: OpenConnection): number {
  return Number(b.answered) - Number(a.answered) || a.quietMs - b.quietMs;
}
