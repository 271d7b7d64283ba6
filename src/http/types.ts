import type { ErrorCode } from '../errors.ts';
import type { TlsFiles } from './tls.ts';

/** A request as the handlers see it: nothing in it knows which engine read it from the socket. */
export interface Request {
  /** Upper-case method. */
  readonly method: string;
  /** Path as sent: percent-encoded, beginning with `/`, without the query. */
  readonly path: string;
  /** Query as sent, without the `?`; empty when there is none. */
  readonly query: string;
  /** Address of the peer; empty when the engine cannot tell. */
  readonly remoteAddress: string;
  /** A header's value by its lower-case name; repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /**
   * The body as sent (not inflated), read at most once.
   * @param limit the most bytes to take; of a longer body nothing is returned, and the engine closes the
   *   connection after the reply.
   * @param budget what the body's memory is taken from as it arrives. Of one that is returned, and larger than what is free,
   *   the caller gives it back; of any other nothing is held.
   * @throws {ApiError} `body_too_large`, `body_too_slow`, or what the budget says
   * @throws {ClientGone} when the client went away in mid-body
   */
  body(limit: number, budget?: ByteBudget): Promise<Uint8Array>;
}

/** A bound on the memory of all bodies under way. */
export interface ByteBudget {
  /** Bodies of at most so many bytes are not counted. */
  readonly free: number;
  /** @throws {ApiError} when there is not so much left */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** What a handler answers. A body needs a `content-type`: without one the engine would choose. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. `content-length`, `date` and `connection` belong to the engine. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Why, when it is a refusal: for the figures and the log; engines pass it over. */
  readonly code?: ErrorCode;
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

/** What an engine calls for each request; it never throws and never rejects. A `HEAD` request gets the reply of its
 * `GET`: the engine sends its headers and length, and leaves the body out. */
export type Dispatch = (request: Request) => Reply | Promise<Reply>;

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: TlsFiles;
  /** Another TLS listener of this process has the address, which both share until that one is closed. */
  readonly takesOver?: true;
  readonly dispatch: Dispatch;
  /** Fixed paths that most requests are for: an engine may recognise them at less cost than others. */
  readonly busyPaths?: readonly string[];
  /** How long a second of a body's deadline takes: 1 000 ms, less in a test. */
  readonly secondMs?: number;
}

export interface Listener {
  readonly host: string;
  /** The real port, also when 0 was asked for. */
  readonly port: number;
  /** Stops accepting, lets requests under way be answered, then resolves; after `graceMs` it cuts the rest. */
  close(graceMs: number): Promise<void>;
}

/** One HTTP server implementation: the only thing that differs between the two runtimes. */
export interface Engine {
  readonly name: 'bun' | 'uws';
  /** @throws {Error} when the address cannot be bound; the message names it and says why. */
  listen(options: ListenOptions): Promise<Listener>;
}

/** Thrown by `Request.body` when the client went away: there is nobody left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
