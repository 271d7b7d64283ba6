import type { ServerHttp2Session } from 'node:http2';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';

/** How long a connection without calls stays open, ms. */
const maxIdleMs = 15 * 60_000;

/** How long a connection is used, ms, give or take a tenth: those that began together do not end together. */
const maxAgeMs = 60 * 60_000;

/** How long the calls of a connection that is too old may take to end, ms. */
const graceMs = 30_000;

/** How often a connection is pinged, and how long its peer may take to answer, ms. */
const pingEveryMs = 120_000;
const pingTimeoutMs = 20_000;

/** Of successive multiples of the golden ratio no two are near each other. */
const goldenRatio = 0.618_033_988_75;

interface Session {
  readonly session: ServerHttp2Session;
  readonly connection: Connection;
  /** When it is too old; `Clock.monotonic` ms, as all times here. */
  readonly endsAt: number;
  pingedAt: number;
  /** Whether the peer has not answered the last ping yet. */
  silent: boolean;
}

/**
 * The HTTP/2 sessions of the gRPC listener. Those that are idle or old, and those whose peers are gone without a word, are
 * closed; clients connect again.
 */
export class Sessions {
  readonly #clock: Clock;
  readonly #sessions = new Set<Session>();
  #opened = 0;
  #onEmpty = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a session until it is closed. */
  add(session: ServerHttp2Session, connection: Connection): void {
    const now = this.#clock.monotonic();
    this.#opened += 1;
    const endsAt = now + maxAgeMs * (0.9 + 0.2 * ((this.#opened * goldenRatio) % 1));
    const added: Session = { session, connection, endsAt, pingedAt: now, silent: false };
    connection.busyAt = now;
    this.#sessions.add(added);
    session.on('error', () => {}); // The 'close' event follows.
    session.on('close', () => {
      this.#sessions.delete(added);
      if (this.#sessions.size === 0) this.#onEmpty();
    });
  }

  /** Closes the sessions that have had their time; to be called now and then. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const each of this.#sessions) {
      const { session, connection, endsAt } = each;
      const isGone = each.silent && now >= each.pingedAt + pingTimeoutMs;
      if (isGone || now >= endsAt + graceMs) session.destroy();
      else if (session.closed) continue;
      else if (now >= endsAt || now >= connection.busyAt + maxIdleMs) session.close();
      else if (now >= each.pingedAt + pingEveryMs) this.#ping(each, now);
    }
  }

  /** Takes no more calls, and lets those under way finish; after `ms` it cuts the rest. */
  close(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => {
        for (const { session } of this.#sessions) session.destroy();
      }, ms);
      this.#onEmpty = () => {
        clearTimeout(cut);
        resolve();
      };
      if (this.#sessions.size === 0) this.#onEmpty();
      for (const { session } of this.#sessions) session.close();
    });
  }

  #ping(each: Session, now: number): void {
    each.pingedAt = now;
    each.silent = true;
    each.session.ping(() => {
      each.silent = false;
    });
  }
}
