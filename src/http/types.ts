import type { RefusalCode } from '../contract/refusals.ts';

/** A request as handlers see it. */
export interface Request {
  readonly method: string;
  /** Path as the client sent it: percent-encoded, without the query. */
  readonly path: string;
  /** Query as the client sent it, without the `?`. */
  readonly query: string;
  /**
   * Address of the client: the address of the connection, or the address reported by a trusted proxy. Empty if the
   * client has disconnected and the HTTP engine no longer knows the address.
   */
  readonly remoteAddress: string;
  /** Returns a header's value by its lower-case name. Repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /** Returns all headers, by lower-case name. */
  headers(): Iterable<readonly [string, string]>;
  /**
   * Reads the body as sent (not decompressed). Call it once.
   * @param limit maximum length in bytes; a longer body is refused, and the HTTP engine closes the connection
   * afterwards
   * @param budget is charged for the body's memory as the body arrives. If the returned body is longer than `free`, the
   * caller must release its charge. A shorter body has no charge.
   * @throws {Refusal} `body_too_large`, `body_too_slow`, or the budget's error
   * @throws {DisconnectError} if the client disconnected in mid-body
   */
  body(limit: number, budget?: ByteBudget): Promise<Uint8Array>;
}

export interface ByteBudget {
  /** Maximum length of bodies that are not charged. */
  readonly free: number;
  /** @throws {Refusal} if the budget is used up */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** Response of a handler. A body needs a `content-type`, because the HTTP engine would otherwise choose one. */
export interface HttpResponse {
  readonly status: number;
  /** Headers with lower-case names. The HTTP engine sets `content-length`, `date` and `connection`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, the only header with a line per value. */
  readonly cookies?: readonly string[];
  readonly body?: string | Uint8Array;
  /** A body that is generated while it is sent, in place of `body`. */
  readonly chunks?: BodyChunks;
  /** Code of a refusal, for the service's metrics and log. HTTP engines ignore it. */
  readonly code?: RefusalCode;
  /** True if another thread has handled and counted the request, and added the request id. */
  readonly isRelayed?: true;
  /** True if many requests get this same object. An HTTP engine can then cache data derived from the object. */
  readonly isReused?: true;
}

/**
 * A body in chunks. An HTTP engine takes the next chunk when the client has room for it, which limits memory. If a
 * chunk fails, the HTTP engine breaks the connection. A body that ends normally is therefore complete.
 */
export interface BodyChunks {
  /** @returns `undefined` at the end. The memory of a chunk can be reused once the next chunk is requested. */
  next(): Promise<Uint8Array | undefined>;
  /** Frees the resources of the body. The HTTP engine always calls it, even when the client has disconnected. */
  stop(): void;
}

/** Path parameters, percent-decoded, by the name after the colon in the route's pattern. */
export type Params = Readonly<Record<string, string>>;

export type Handler = (request: Request, params: Params) => HttpResponse | Promise<HttpResponse>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Path in the form `/fixed/:parameter`. A parameter is one whole, non-empty segment. */
  readonly path: string;
  readonly handle: Handler;
  /** True if `OPTIONS` on this path gets 405 instead of 204, so that every CORS preflight fails. */
  readonly noOptions?: true;
}

/**
 * Responds to each request of an HTTP engine. Never throws and never rejects. For `HEAD`, it returns the response of
 * `GET`, of which the HTTP engine sends only the headers and the length.
 */
export type Dispatch = (request: Request) => HttpResponse | Promise<HttpResponse>;

export type AddressFinder = (connected: string, request: Pick<Request, 'header'>) => string;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ListenOptions {
  readonly host: string;
  /** Port 0 picks any free port. */
  readonly port: number;
  readonly tls?: TlsFiles;
  /**
   * True if other listeners of this process may share the address. With TLS, the address is always shared, so that
   * certificates can be renewed.
   */
  readonly isShared?: true;
  /**
   * True if the address is shared with another listener of this process. Both listeners get connections until one of
   * them is closed.
   */
  readonly joins?: true;
  readonly dispatch: Dispatch;
  /** Headers of every response, including the HTTP engine's own refusals. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Finds client addresses, and is called only when an address is needed. The default is the address of the connection.
   */
  readonly findAddress?: AddressFinder;
  /** Fixed paths of most requests. An HTTP engine can match them at a lower cost. */
  readonly busyPaths?: readonly string[];
  /** Length of one second in body deadlines, ms: 1 000, shorter in tests. */
  readonly secondMs?: number;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, waits for the responses to open requests, and closes all other connections after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** An HTTP server implementation. It is the only code that differs between the runtimes. */
export interface HttpEngine {
  readonly name: 'bun' | 'uws';
  /** @throws {Error} with the address and the reason if the address cannot be bound */
  listen(options: ListenOptions): Promise<Listener>;
}

/** Thrown by `Request.body` if the client has closed the connection, so no response can be sent. */
export class DisconnectError extends Error {
  override readonly name = 'DisconnectError';
}
