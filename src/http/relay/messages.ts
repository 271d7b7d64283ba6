import type { RefusalCode } from '../../contract/refusals.ts';
import type { Failure } from '../../runtime/thread-calls.ts';

/**
 * src/http/relay: requests to the metrics host that a front-end thread forwards to the main thread. messages.ts declares what the
 * two send each other. Messages without bytes have only strings and numbers, because Bun clones such objects several times faster.
 */

export type ToMain = ForwardedHead | ({ readonly id: number } & BodyProgress);

/** A new request. Its id is unique among those of the thread. */
export interface ForwardedHead {
  readonly kind: 'request';
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Address of the connection: the main thread evaluates the headers of proxies. */
  readonly connected: string;
  /** JSON of the names and values. */
  readonly headers: string;
  /** The body, if the thread has read it already. */
  readonly body?: Uint8Array;
}

/** Progress of a body that the main thread reads. */
type BodyProgress =
  | { readonly kind: 'charge'; readonly bytes: number }
  | { readonly kind: 'body'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** The client has disconnected. */
  | { readonly kind: 'gone' };

export type ToThread = { readonly id: number } & (
  | ForwardedReply
  /** Asks for the body. `free` is that of its budget. */
  | { readonly kind: 'read'; readonly limit: number; readonly free?: number }
  /** The budget of the body is used up. */
  | { readonly kind: 'refuse'; readonly failure: Failure }
);

/** A whole reply. The metrics host has no chunked ones, and sets no cookies. */
export interface ForwardedReply {
  readonly kind: 'reply';
  readonly status: number;
  /** JSON. */
  readonly headers?: string;
  readonly body?: string | Uint8Array;
  readonly code?: RefusalCode;
}

/** Bytes in memory of their own: cloning a view would also clone the memory around it. */
export function ownMemory(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? bytes : new Uint8Array(bytes);
}
