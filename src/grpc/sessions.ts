import type { ServerHttp2Session } from 'node:http2';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';

/** Idle timeout of a connection, ms. */
const maxIdleMs = 15 * 60_000;

/** Maximum age of a connection, ms. It varies by 10 %, so that connections opened together do not close together. */
const maxAgeMs = 60 * 60_000;

/** Time for the open calls of a connection to finish after the connection has become too old, ms. */
const graceMs = 30_000;

/** Interval between pings of a connection, and time allowed for the ping response, ms. */
const pingEveryMs = 120_000;
const pingTimeoutMs = 20_000;

/** Fraction of the golden ratio. Its multiples, modulo 1, are evenly spread, and determine the maximum ages. */
const goldenRatio = 0.618_033_988_75;

interface Session {
  readonly session: ServerHttp2Session;
  readonly connection: Connection;
  /** Time at which the session becomes too old; `Clock.monotonic` ms, like all times here. */
  readonly endsAt: number;
  pingedAt: number;
  silent: boolean;
}

/** HTTP/2 sessions of the gRPC listener. Clients reconnect when their session is closed. */
export class Sessions {
  readonly #clock: Clock;
  readonly #sessions = new Set<Session>();
  #opened = 0;
  #onEmpty = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(session: ServerHttp2Session, connection: Connection): void {
    const now = this.#clock.monotonic();
    this.#opened += 1;
    const endsAt = now + maxAgeMs * (0.9 + 0.2 * ((this.#opened * goldenRatio) % 1));
    const added: Session = { session, connection, endsAt, pingedAt: now, silent: false };
    connection.busyAt = now;
    this.#sessions.add(added);
    session.on('error', () => {}); // A 'close' event follows an error.
    session.on('close', () => {
      this.#sessions.delete(added);
      if (this.#sessions.size === 0) this.#onEmpty();
    });
  }

  /** Closes idle, old and unreachable sessions. Called periodically. */
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

  /** Refuses new calls and waits for open calls to finish. Cancels the remaining calls after `ms`. */
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
