import type { RefusalCode } from '../contract/refusals.ts';
import type { TlsFiles } from './tls.ts';

/** A request as the handlers see it, independent of the engine that read it. */
export interface Request {
  /** Upper-case method. */
  readonly method: string;
  /** Path as sent: percent-encoded, without the query. */
  readonly path: string;
  /** Query as sent, without the `?`; empty without one. */
  readonly query: string;
  /**
   * Address of the client: of the connection, or what a trusted proxy says of it. Empty when the engine cannot tell, because the
   * client has gone.
   */
  readonly remoteAddress: string;
  /** A header's value by its lower-case name; repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /**
   * Reads the body as sent (not inflated). Call it once.
   * @param limit maximum length in bytes; a longer body is refused, and the engine closes the connection after the reply
   * @param budget is charged for the body's memory as it arrives. The caller gives back the length of a returned body that
   *   is longer than `free`; any other body is no longer charged.
   * @throws {ApiError} `body_too_large`, `body_too_slow`, or what the budget says
   * @throws {ClientGone} when the client went away in mid-body
   */
  body(limit: number, budget?: ByteBudget): Promise<Uint8Array>;
}

/** Bounds the memory of all bodies in flight. */
export interface ByteBudget {
  /** Bodies up to this length are not charged. */
  readonly free: number;
  /** @throws {ApiError} when the budget is used up */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** What a handler answers. A body needs a `content-type`: without one the engine would choose. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. `content-length`, `date` and `connection` belong to the engine. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, the one header that has a line for each value. */
  readonly cookies?: readonly string[];
  readonly body?: string | Uint8Array;
  /** A body that is made while it is sent, in place of `body`. */
  readonly pieces?: Pieces;
  /** The code of a refusal, for the service's metrics and the log; engines ignore it. */
  readonly code?: RefusalCode;
  /** This object answers many requests, so an engine may keep what it makes of it. */
  readonly isReused?: true;
}

/**
 * A body in pieces. An engine takes the next one when the client has room for it, so that memory is bounded. When a piece fails
 * the engine breaks the connection: a body that ends as it should is whole.
 */
export interface Pieces {
  /** @returns `undefined` at the end. The memory of a piece may be used again once the next piece is asked for. */
  next(): Promise<Uint8Array | undefined>;
  /** Frees what the body holds. The engine calls it in any case: at the end, and when the client has gone. */
  stop(): void;
}

/** Path parameters, percent-decoded, by the name after the colon in the route's pattern. */
export type Params = Readonly<Record<string, string>>;

export type Handler = (request: Request, params: Params) => Reply | Promise<Reply>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** `/fixed/:parameter`; a parameter is one whole, non-empty segment. */
  readonly path: string;
  readonly handle: Handler;
  /** `OPTIONS` on this path is answered 405 instead of 204: no browser may ever pass a preflight here. */
  readonly noOptions?: true;
}

/**
 * Answers each request of an engine; it never throws and never rejects. A `HEAD` request gets the reply of its `GET`: the
 * engine sends the headers and the length, and leaves the body out.
 */
export type Dispatch = (request: Request) => Reply | Promise<Reply>;

/** Where a request comes from, by the address of its connection and its headers. */
export type AddressOf = (connected: string, request: Pick<Request, 'header'>) => string;

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: TlsFiles;
  /** Another TLS listener of this process has the address; both share it until that one is closed. */
  readonly takesOver?: true;
  readonly dispatch: Dispatch;
  /** Headers of every reply, the engine's own refusals included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Asked only when something needs the address of a request; without it that is the connection's. */
  readonly addressOf?: AddressOf;
  /** Fixed paths of most requests: an engine may recognise them at less cost than others. */
  readonly busyPaths?: readonly string[];
  /** Length of a second of a body's deadline, ms: 1 000, less in a test. */
  readonly secondMs?: number;
}

export interface Listener {
  readonly host: string;
  /** The real port, also when 0 was asked for. */
  readonly port: number;
  /** Stops accepting, waits until the requests in flight are answered, and cuts those that are left after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** An HTTP server implementation: the one difference between the two runtimes. */
export interface Engine {
  readonly name: 'bun' | 'uws';
  /** @throws {Error} when the address cannot be bound; the message names it and says why. */
  listen(options: ListenOptions): Promise<Listener>;
}

/** Thrown by `Request.body` when the client has closed the connection, so no reply can be sent. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
