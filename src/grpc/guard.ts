import { constants, type ServerHttp2Stream } from 'node:http2';
import { ApiError } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';
import type { Call, CallObserver } from './call.ts';

export interface GuardOptions {
  readonly clock: Clock;
  /** Maximum bytes held by all calls with incomplete messages, and by those with unread answers. */
  readonly maxBytes: number;
  used(connection: Connection): void;
}

/** Memory of a call before its message arrives, measured by `npm run bench -- hostile-grpc`. */
export const bytesPerCall = 32 * 1024;

/** Time allowed for the message of a call to become complete, ms. */
const messageTimeoutMs = 30_000;

/** Time allowed for the client to read its answers, ms. */
const unreadTimeoutMs = 30_000;

/**
 * Watches calls until their streams are closed. Until a message is complete its application is unknown, so anyone can make the
 * service hold memory for it. So can clients that do not read their answers. The guard ends slow calls, and the oldest ones if
 * all together hold too much.
 */
export class GrpcGuard implements CallObserver {
  /** Bytes held by calls with incomplete messages. */
  bytes = 0;
  /** Calls ended before their messages were complete or their answers read, since this was last set to 0. */
  broken = 0;
  unread = 0;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #used: GuardOptions['used'];
  /** Calls with incomplete messages, oldest first. */
  readonly #open = new Set<Call>();
  /** Calls that are no longer read but whose streams are still open, in the order they got there. */
  readonly #read = new Set<Call>();
  /** Streams that were answered without being read. */
  readonly #answered = new Set<ServerHttp2Stream>();

  constructor({ clock, maxBytes, used }: GuardOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#used = used;
  }

  /** Number of calls with incomplete messages. */
  get size(): number {
    return this.#open.size;
  }

  watch(call: Call): void {
    this.#open.add(call);
    this.grew(call, bytesPerCall);
  }

  grew(call: Call, bytes: number): void {
    call.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes > this.#maxBytes) this.#makeRoom();
  }

  whole(call: Call): void {
    this.#used(call.connection);
    this.#rest(call);
  }

  refused(call: Call): void {
    this.#rest(call);
  }

  closed(call: Call): void {
    if (this.#release(call) || call.unreadSince !== undefined) this.broken += 1;
    this.#read.delete(call);
  }

  /**
   * Discards further data of a stream that was answered without being read. Most clients end it themselves: closing each one
   * would cost several times its memory. The next sweep closes the others.
   */
  answeredUnread(stream: ServerHttp2Stream): void {
    stream.resume();
    this.#answered.add(stream);
    stream.on('close', () => this.#answered.delete(stream));
  }

  /** Ends slow calls; to be called periodically. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const stream of this.#answered) stream.close();
    this.#dropUnread(now);
    for (const call of this.#open) {
      if (now - call.since >= messageTimeoutMs && call.idle) this.#renew(call, now);
      else if (now - call.since >= Math.min(messageTimeoutMs, call.timeout ?? messageTimeoutMs)) {
        this.#end(call, new ApiError('deadline_exceeded', 'The message was not complete in time'));
      }
    }
  }

  /** An answer in flight is often unread, so only one that two sweeps have found counts. */
  #dropUnread(now: number): void {
    const unread = [...this.#findUnread(this.#read, now), ...this.#findUnread(this.#open, now)];
    const excess = unread.length - Math.floor(this.#maxBytes / bytesPerCall);
    unread.forEach((call, index) => {
      if (index < excess || now - call.unreadSince! >= unreadTimeoutMs) call.reset(constants.NGHTTP2_CANCEL);
    });
    this.unread = unread.length;
  }

  *#findUnread(calls: Iterable<Call>, now: number): Generator<Call> {
    for (const call of calls) {
      call.connection.busyAt = now;
      if (!call.unread) call.unreadSince = undefined;
      else if (call.unreadSince === undefined) call.unreadSince = now;
      else yield call;
    }
  }

  #makeRoom(): void {
    for (const call of this.#open) {
      this.#end(call, new ApiError('backpressure', 'Too many messages are incomplete', 5));
      if (this.bytes <= this.#maxBytes) return;
    }
  }

  #end(call: Call, refusal: ApiError): void {
    this.broken += 1;
    call.refuse(refusal);
  }

  #rest(call: Call): void {
    if (this.#release(call)) this.#read.add(call);
  }

  /** @returns whether the call was still open */
  #release(call: Call): boolean {
    if (!this.#open.delete(call)) return false;
    this.bytes -= call.bytes;
    return true;
  }

  /** A stream between two messages holds nothing, and may stay open. */
  #renew(call: Call, now: number): void {
    this.#open.delete(call);
    this.#open.add(call);
    call.since = now;
  }
}
