import { constants, type ServerHttp2Stream } from 'node:http2';
import { ApiError } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';
import type { Call, CallObserver } from './call.ts';

export interface GuardOptions {
  readonly clock: Clock;
  /** Bytes that all calls may hold whose messages are not whole; and those whose answers are not taken. */
  readonly maxBytes: number;
  /** The connection has brought a whole call. */
  used(connection: Connection): void;
}

/** What a call takes of our memory before anything of its message has come: `npm run bench -- hostile-grpc` measures it. */
export const bytesPerCall = 32 * 1024;

/** How long the message of a call may take to become whole, ms. */
const messageTimeoutMs = 30_000;

/** How long the client may take to accept what was sent to it, ms. */
const unreadTimeoutMs = 30_000;

/**
 * Watches calls until their streams are closed. Until a message is whole the application is unknown, so anyone can make the
 * service hold memory for it; and so can clients that do not take their answers. The guard ends calls that take too long, and
 * the oldest when all together hold too much.
 */
export class GrpcGuard implements CallObserver {
  /** Bytes that calls hold whose messages are not whole. */
  bytes = 0;
  /** Calls that were cut short, since this was last set to 0: before their messages were whole, or their answers taken. */
  broken = 0;
  /** Calls whose answers are not taken, as of the last sweep. */
  unread = 0;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #used: GuardOptions['used'];
  /** Those whose messages are not whole, in the order in which they began. */
  readonly #open = new Set<Call>();
  /** Those whose streams are still open though nothing more is read from them, in the order in which they became so. */
  readonly #read = new Set<Call>();
  /** Streams that were answered without being read. */
  readonly #answered = new Set<ServerHttp2Stream>();

  constructor({ clock, maxBytes, used }: GuardOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#used = used;
  }

  /** Calls whose messages are not whole. */
  get size(): number {
    return this.#open.size;
  }

  /** Watches a call that begins. */
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
   * Drops what still comes of a stream that was answered without being read. Most clients end it by themselves: closing
   * each one would cost several times its memory. The next sweep closes the others.
   */
  answeredUnread(stream: ServerHttp2Stream): void {
    stream.resume();
    this.#answered.add(stream);
    stream.on('close', () => this.#answered.delete(stream));
  }

  /** Ends the calls that have taken too long; to be called now and then. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const stream of this.#answered) stream.close();
    this.#dropUnread(now);
    for (const call of this.#open) {
      if (now - call.since >= messageTimeoutMs && call.idle) this.#renew(call, now);
      else if (now - call.since >= Math.min(messageTimeoutMs, call.timeout ?? messageTimeoutMs)) {
        this.#end(call, new ApiError('deadline_exceeded', 'The message was not whole in time'));
      }
    }
  }

  /** An answer on its way is often unread, so only what two sweeps have found so counts. */
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
      this.#end(call, new ApiError('backpressure', 'Too many messages are not whole', 5));
      if (this.bytes <= this.#maxBytes) return;
    }
  }

  #end(call: Call, refusal: ApiError): void {
    this.broken += 1;
    call.refuse(refusal);
  }

  /** Nothing more is read from the call. */
  #rest(call: Call): void {
    if (this.#release(call)) this.#read.add(call);
  }

  /** Gives whether the call was still open. */
  #release(call: Call): boolean {
    if (!this.#open.delete(call)) return false;
    this.bytes -= call.bytes;
    return true;
  }

  /** A stream between two messages holds nothing, and may stay. */
  #renew(call: Call, now: number): void {
    this.#open.delete(call);
    this.#open.add(call);
    call.since = now;
  }
}
