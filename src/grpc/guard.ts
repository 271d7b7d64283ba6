import { constants, type ServerHttp2Stream } from 'node:http2';
import { Refusal } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';

/** Time allowed for the message of a call to become complete, ms. */
export const messageTimeoutMs = 30_000;

/** A gRPC call or an HTTP request on an HTTP/2 stream, as the guard sees it. */
export interface WatchedStream {
  readonly connection: Connection;
  /** Start time, or the time at which the last message became complete; `Clock.monotonic` ms. */
  since: number;
  /** Memory charged to the stream until its message is complete. */
  bytes: number;
  /** Time at which the guard first found unread responses. */
  unreadSince: number | undefined;
  /** True if sent data waits for the flow control of the client (RFC 9113 §5.2). */
  readonly unread: boolean;
  /** True while a streaming call waits for its next message. */
  readonly idle: boolean;
  /** Time allowed for the message to become complete, ms. */
  readonly allowedMs: number;
  /** Ends the stream because its message was not complete in `allowedMs`. */
  endLate(): void;
  refuse(refusal: Refusal): void;
  reset(code: number): void;
}

export interface StreamObserver {
  /** Called when bytes arrive or are freed. */
  grew(stream: WatchedStream, bytes: number): void;
  /** Called when the stream's message, or its whole request body, has arrived. */
  whole(stream: WatchedStream): void;
  /** Called when the stream was refused before its message was complete. Nothing more is read from the stream. */
  refused(stream: WatchedStream): void;
  closed(stream: WatchedStream): void;
}

interface GuardOptions {
  readonly clock: Clock;
  /** Maximum bytes held by all calls with incomplete messages. Unread responses have the same limit. */
  readonly maxBytes: number;
  used(connection: Connection): void;
}

/** Memory of a stream before its message arrives, measured by `npm run bench -- hostile-grpc`. */
export const bytesPerCall = 32 * 1024;

/** Time allowed for a client that reads none of its responses, ms. */
const unreadTimeoutMs = 30_000;

/**
 * Watches gRPC calls and HTTP requests until their streams are closed. Ends slow streams. Ends the oldest streams if
 * all together hold too many bytes, because no rate limit applies until a complete message shows the sender.
 */
export class GrpcGuard implements StreamObserver {
  /** Bytes held by streams with incomplete messages. */
  bytes = 0;
  /** Number of streams that were ended for an incomplete message or an unread response, since the last reset to 0. */
  broken = 0;
  unread = 0;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #used: GuardOptions['used'];
  /** Streams with incomplete messages, oldest first. */
  readonly #open = new Set<WatchedStream>();
  /** Open streams that are no longer read, in the order in which reading ended. */
  readonly #read = new Set<WatchedStream>();
  /** Streams that got a response before their message was read. */
  readonly #discarded = new Set<ServerHttp2Stream>();

  constructor({ clock, maxBytes, used }: GuardOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#used = used;
  }

  get size(): number {
    return this.#open.size;
  }

  watch(stream: WatchedStream): void {
    this.#open.add(stream);
    this.grew(stream, bytesPerCall);
  }

  grew(stream: WatchedStream, bytes: number): void {
    stream.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes > this.#maxBytes) this.#makeRoom();
  }

  whole(stream: WatchedStream): void {
    this.#used(stream.connection);
    this.#rest(stream);
  }

  refused(stream: WatchedStream): void {
    this.#rest(stream);
  }

  closed(stream: WatchedStream): void {
    if (this.#release(stream) || stream.unreadSince !== undefined) this.broken += 1;
    this.#read.delete(stream);
  }

  /**
   * Discards further data of a stream that got a response before its message was read. Most clients end the stream
   * themselves, and the next sweep closes the rest. Closing each stream here would take several times as much memory.
   */
  discard(stream: ServerHttp2Stream): void {
    stream.resume();
    this.#discarded.add(stream);
    stream.on('close', () => this.#discarded.delete(stream));
  }

  /** Ends slow calls and unread streams. Called periodically. */
  sweep(): void {
    const now = this.#clock.monotonic();
    // A closed stream cannot be reset, so a stream with waiting responses is closed by a later sweep.
    for (const stream of this.#discarded) if (stream.writableLength === 0) stream.close();
    this.#dropUnread(now);
    for (const stream of this.#open) {
      if (now - stream.since >= messageTimeoutMs && stream.idle) this.#renew(stream, now);
      else if (now - stream.since >= stream.allowedMs) {
        this.broken += 1;
        stream.endLate();
      }
    }
  }

  /** Resets unread streams. A response in flight is often unread, so only streams unread at two sweeps are reset. */
  #dropUnread(now: number): void {
    const unread = [...this.#findUnread(this.#read, now), ...this.#findUnread(this.#open, now)];
    const excess = unread.length - Math.floor(this.#maxBytes / bytesPerCall);
    unread.forEach((stream, index) => {
      if (index < excess || now - stream.unreadSince! >= unreadTimeoutMs) stream.reset(constants.NGHTTP2_CANCEL);
    });
    this.unread = unread.length;
  }

  *#findUnread(streams: Iterable<WatchedStream>, now: number): Generator<WatchedStream> {
    for (const stream of streams) {
      stream.connection.busyAt = now;
      if (!stream.unread) stream.unreadSince = undefined;
      else if (stream.unreadSince === undefined) stream.unreadSince = now;
      else yield stream;
    }
  }

  #makeRoom(): void {
    for (const stream of this.#open) {
      this.broken += 1;
      stream.refuse(new Refusal('backpressure', 'Too many messages are incomplete', 5));
      if (this.bytes <= this.#maxBytes) return;
    }
  }

  #rest(stream: WatchedStream): void {
    if (this.#release(stream)) this.#read.add(stream);
  }

  #release(stream: WatchedStream): boolean {
    if (!this.#open.delete(stream)) return false;
    this.bytes -= stream.bytes;
    return true;
  }

  /** Restarts the timeout of a stream that waits for its next message, holds no data and can stay open. */
  #renew(stream: WatchedStream, now: number): void {
    this.#open.delete(stream);
    this.#open.add(stream);
    stream.since = now;
  }
}
