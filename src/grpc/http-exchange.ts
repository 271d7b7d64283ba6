import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { ApiError } from '../contract/errors.ts';
import { problem } from '../http/answer.ts';
import { BodyInbox } from '../http/engines/body-inbox.ts';
import { framingFault, isPlainPath, resolvable } from '../http/engines/head.ts';
import { maxHead, secondsAllowed, tooSlow } from '../http/engines/limits.ts';
import { type EveryReply, oneLine, withHeaders } from '../http/engines/reply-headers.ts';
import type { AddressOf, ByteBudget, Dispatch, Pieces, Reply, Request } from '../http/types.ts';
import type { Connection } from './acceptor.ts';
import type { StreamObserver, WatchedStream } from './guard.ts';

/** Maximum length of a part of a reply that waits for the client. */
const maxPart = 64 * 1024;

interface ExchangeDeps {
  readonly connection: Connection;
  readonly observer: StreamObserver & { answeredUnread(stream: ServerHttp2Stream): void };
  readonly addressOf: AddressOf;
  readonly every: EveryReply;
  readonly now: number;
}

export class HttpExchange implements Request, WatchedStream {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly connection: Connection;
  readonly idle = false;
  readonly since: number;
  bytes = 0;
  unreadSince: number | undefined;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #deps: ExchangeDeps;
  readonly #inbox: BodyInbox;
  /** Read at once: in Bun it also becomes true when the reply ends. */
  readonly #isBodyless: boolean;
  #received = 0;
  #released = () => {};

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, deps: ExchangeDeps) {
    const target = headers[':path'] ?? '';
    const mark = target.indexOf('?');
    this.method = headers[':method'] ?? '';
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.connection = deps.connection;
    this.since = deps.now;
    this.#stream = stream;
    this.#isBodyless = stream.endAfterHeaders;
    this.#headers = headers;
    this.#deps = deps;
    this.#inbox = new BodyInbox(stream);
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#end());
    stream.on('close', () => this.#close());
  }

  get remoteAddress(): string {
    const { remoteAddress } = this.connection.socket;
    return remoteAddress === undefined ? '' : this.#deps.addressOf(remoteAddress, this);
  }

  get unread(): boolean {
    return this.#stream.writableLength > 0 || this.#stream.writableEnded;
  }

  get allowedMs(): number {
    return 1_000 * secondsAllowed(this.#received);
  }

  header(name: string): string | undefined {
    const value = this.#headers[name === 'host' && this.#headers.host === undefined ? ':authority' : name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headers(): Iterable<readonly [string, string]> {
    const names = Object.keys(this.#headers).filter((name) => !name.startsWith(':'));
    return [...new Set(['host', ...names])].map((name) => [name, this.header(name) ?? '']);
  }

  body(limit: number, budget?: ByteBudget): Promise<Uint8Array> {
    return this.#inbox.read(limit, this.header('content-length'), budget);
  }

  answer(dispatch: Dispatch): void {
    const fault = this.#fault();
    const reply = fault ?? dispatch(this);
    if (reply instanceof Promise) void reply.then((late) => this.#reply(late));
    else this.#reply(reply);
  }

  endLate(): void {
    this.refuse(tooSlow());
  }

  /** The handler gets the error when it reads the body, and answers with it. */
  refuse(refusal: ApiError): void {
    this.#inbox.giveUp(refusal);
    this.#deps.observer.refused(this);
  }

  reset(code: number): void {
    this.#stream.close(code);
  }

  get #closed(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  /** The rules for heads of HTTP/1.1 that also concern HTTP/2 (RFC 9113 §8.3.1). */
  #fault(): Reply | undefined {
    const { host, ':authority': authority } = this.#headers;
    let length = 0;
    for (const name in this.#headers) length += name.length + String(this.#headers[name]).length + 4;
    if (length > maxHead) return { status: 431 };
    if (host !== undefined && authority !== undefined && host !== authority) return problem(twoHosts);
    const contentLength = this.header('content-length');
    const refusal = isPlainPath(this.path) ? framingFault({ host: this.header('host'), contentLength }) : resolvable;
    return refusal && problem(refusal);
  }

  /** `close` would end the stream first unless data waits, so that a truncated reply would seem complete. */
  #break(): void {
    this.#stream.destroy(new Error('The exchange was given up'));
  }

  #take(chunk: Buffer): void {
    this.#received += chunk.length;
    this.#inbox.push(chunk, false);
    this.#deps.observer.grew(this, chunk.length);
  }

  /** A stream that was reset ends too. A body of another length than declared is malformed (RFC 9113 §8.1.1). */
  #end(): void {
    if (this.#stream.aborted) return;
    const declared = this.header('content-length');
    if (declared !== undefined && Number(declared) !== this.#received) {
      this.#break();
      return;
    }
    this.#inbox.push(new Uint8Array(), true);
    this.#deps.observer.whole(this);
  }

  #close(): void {
    this.#inbox.abort();
    this.#released();
    this.#deps.observer.closed(this);
  }

  #reply(answer: Reply): void {
    if (this.#closed) {
      answer.pieces?.stop();
      return;
    }
    const reply = withHeaders(answer, this.#deps.every);
    const { status, body, pieces } = reply;
    const isBare = this.method === 'HEAD' || status === 204 || status === 304;
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const head = headOf(reply);
    if (pieces === undefined && status !== 204 && status !== 304) head['content-length'] = String(length);
    const isEmpty = isBare || (pieces === undefined && length === 0);
    this.#stream.respond(head, { endStream: isEmpty });
    if (isEmpty) pieces?.stop();
    else if (pieces !== undefined) void this.#sendPieces(pieces);
    else if (length <= maxPart) this.#stream.end(body);
    else void this.#sendPieces(partsOf(Buffer.from(body!)));
    if (!this.#inbox.complete && !this.#isBodyless) this.#discardRest();
  }

  /** Discards what the client still sends. A reset could make it lose the reply. */
  #discardRest(): void {
    this.#deps.observer.refused(this);
    this.#deps.observer.answeredUnread(this.#stream);
  }

  /** Sends a part when the client has read the previous one. Resets the stream if one fails. */
  async #sendPieces(pieces: Pieces): Promise<void> {
    try {
      for (;;) {
        const piece = await pieces.next();
        if (this.#closed) return;
        if (piece === undefined) break;
        await this.#write(piece);
        if (this.#closed) return;
        this.unreadSince = undefined;
      }
      this.#stream.end();
    } catch {
      this.#break();
    } finally {
      pieces.stop();
    }
  }

  /** Resolves when the client has room for more, or has disconnected. */
  #write(piece: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#released = resolve;
      this.#stream.write(piece, () => resolve());
    });
  }
}

const twoHosts = new ApiError('invalid_head', 'Send the same host in :authority and Host');

function headOf({ status, headers = {}, cookies }: Reply): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = { ':status': status };
  for (const name in headers) head[name] = oneLine(headers[name]!);
  if (cookies !== undefined) head['set-cookie'] = cookies.map(oneLine);
  return head;
}

function partsOf(body: Buffer): Pieces {
  let at = 0;
  return {
    async next() {
      if (at >= body.length) return undefined;
      at += maxPart;
      return body.subarray(at - maxPart, at);
    },
    stop() {},
  };
}
