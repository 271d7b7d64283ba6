import type { RefusalCode } from '../contract/refusals.ts';

/** A request as handlers see it. */
export interface Request {
  readonly method: string;
  /** Path as sent: percent-encoded, without the query. */
  readonly path: string;
  /** Query as sent, without the `?`. */
  readonly query: string;
  /**
   * Address of the client: that of the connection, or the one reported by a trusted proxy. Empty if the client has disconnected
   * and the HTTP engine no longer knows it.
   */
  readonly remoteAddress: string;
  /** A header's value by its lower-case name; repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /** All headers, by lower-case name. */
  headers(): Iterable<readonly [string, string]>;
  /**
   * Reads the body as sent (not decompressed). Call it once.
   * @param limit maximum length in bytes; a longer body is refused, and the HTTP engine closes the connection after the reply
   * @param budget is charged for the body's memory as it arrives. The caller returns the length of a returned body that is
   *   longer than `free`; any other body is no longer charged.
   * @throws {ApiError} `body_too_large`, `body_too_slow`, or the budget's error
   * @throws {DisconnectError} if the client disconnected in mid-body
   */
  body(limit: number, budget?: ByteBudget): Promise<Uint8Array>;
}

export interface ByteBudget {
  /** Bodies up to this length are not charged. */
  readonly free: number;
  /** @throws {ApiError} if the budget is used up */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** The answer of a handler. A body needs a `content-type`: without one the HTTP engine would choose. */
export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. The HTTP engine sets `content-length`, `date` and `connection`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, the only header with a line per value. */
  readonly cookies?: readonly string[];
  readonly body?: string | Uint8Array;
  /** A body that is generated while it is sent, in place of `body`. */
  readonly chunks?: BodyChunks;
  /** The code of a refusal, for the service's metrics and log; HTTP engines ignore it. */
  readonly code?: RefusalCode;
  /** Another thread has answered, counted and named the request. */
  readonly isRelayed?: true;
  /** This object answers many requests, so an HTTP engine may cache data derived from it. */
  readonly isReused?: true;
}

/**
 * A body in chunks. An HTTP engine takes the next one when the client has room for it, which limits memory. If a chunk fails, the
 * HTTP engine breaks the connection. A body that ends normally is therefore complete.
 */
export interface BodyChunks {
  /** @returns `undefined` at the end. The memory of a chunk may be reused once the next chunk is requested. */
  next(): Promise<Uint8Array | undefined>;
  /** Frees the resources of the body. The HTTP engine always calls it: at the end, and when the client has disconnected. */
  stop(): void;
}

/** Path parameters, percent-decoded, by the name after the colon in the route's pattern. */
export type Params = Readonly<Record<string, string>>;

export type Handler = (request: Request, params: Params) => HttpResponse | Promise<HttpResponse>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/fixed/:parameter`; a parameter is one whole, non-empty segment. */
  readonly path: string;
  readonly handle: Handler;
  /** `OPTIONS` on this path is answered 405 instead of 204: a browser must never pass a preflight here. */
  readonly noOptions?: true;
}

/**
 * Answers each request of an HTTP engine; it never throws and never rejects. A `HEAD` request gets the reply of its `GET`. The
 * HTTP engine sends the headers and the length without the body.
 */
export type Dispatch = (request: Request) => HttpResponse | Promise<HttpResponse>;

export type AddressFinder = (connected: string, request: Pick<Request, 'header'>) => string;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  readonly tls?: TlsFiles;
  /** True if other listeners of this process may join this one. With TLS they always may, to take over. */
  readonly isShared?: true;
  /** True if another listener of this process uses the address and is shared. Both get connections, until one is closed. */
  readonly joins?: true;
  readonly dispatch: Dispatch;
  /** Headers of every reply, including the HTTP engine's own refusals. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called only when the address of a request is needed. Without it, that is the connection's. */
  readonly findAddress?: AddressFinder;
  /** Fixed paths of most requests, which an HTTP engine can match at a lower cost. */
  readonly busyPaths?: readonly string[];
  /** Length of a second of a body's deadline, ms: 1 000, less in a test. */
  readonly secondMs?: number;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, waits until the requests in flight are answered, and cuts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** An HTTP server implementation: the only difference between the runtimes. */
export interface HttpEngine {
  readonly name: 'bun' | 'uws';
  /** @throws {Error} with the address and the reason if the address cannot be bound */
  listen(options: ListenOptions): Promise<Listener>;
}

/** Thrown by `Request.body` if the client has closed the connection, so no reply can be sent. */
export class DisconnectError extends Error {
  override readonly name = 'DisconnectError';
}
