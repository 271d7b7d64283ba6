import type { ApiError } from '../contract/errors.ts';
import type { Connection } from './acceptor.ts';

/** Time allowed for the message of a call to become complete, ms. */
export const messageTimeoutMs = 30_000;

/** A gRPC call or an HTTP request on a stream of HTTP/2, as the guard sees it. */
export interface WatchedStream {
  readonly connection: Connection;
  /** Start time, or when its last message became complete; `Clock.monotonic` ms. */
  since: number;
  /** Memory charged to it until its message is complete. */
  bytes: number;
  /** When the client was first found not to read its answers. */
  unreadSince: number | undefined;
  /** Whether sent data is waiting for flow control of the client (RFC 9113 §5.2). */
  readonly unread: boolean;
  /** Whether it is between two messages of a streaming call. */
  readonly idle: boolean;
  /** Time allowed for its message to become complete, ms. */
  readonly allowedMs: number;
  /** Ends it because its message was not complete in that time. */
  endLate(): void;
  /** Ends it before its message is complete. */
  refuse(refusal: ApiError): void;
  reset(code: number): void;
}

export interface StreamObserver {
  /** Bytes arrived or were freed. */
  grew(stream: WatchedStream, bytes: number): void;
  /** All required data has arrived. */
  whole(stream: WatchedStream): void;
  /** It was refused before its message was complete. Nothing more is read from it. */
  refused(stream: WatchedStream): void;
  closed(stream: WatchedStream): void;
}
