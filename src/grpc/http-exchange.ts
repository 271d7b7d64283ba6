import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { Refusal } from '../contract/errors.ts';
import { BodyInbox } from '../http/engines/body-inbox.ts';
import { framingFault, isPlainPath, resolvable } from '../http/engines/head.ts';
import { maxHead, secondsAllowed, tooSlow } from '../http/engines/limits.ts';
import { type DefaultHeaders, oneLine, withHeaders } from '../http/engines/response-headers.ts';
import { problem } from '../http/responses.ts';
import type { AddressFinder, BodyChunks, ByteBudget, Dispatch, HttpResponse, Request } from '../http/types.ts';
import type { Connection } from './acceptor.ts';
import type { StreamObserver, WatchedStream } from './guard.ts';

/** Maximum length of a response chunk that waits for the client. */
const maxChunk = 64 * 1024;

interface ExchangeDeps {
  readonly connection: Connection;
  readonly observer: StreamObserver & { discard(stream: ServerHttp2Stream): void };
  readonly findAddress: AddressFinder;
  readonly every: DefaultHeaders;
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
  /** True if the request has no body. Read at the start, because Bun changes `endAfterHeaders` later. */
  readonly #isBodyless: boolean;
  #received = 0;
  #released = () => {};

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, deps: ExchangeDeps) {
    const target = headers[':path'] ?? '';
    const queryAt = target.indexOf('?');
    this.method = headers[':method'] ?? '';
    this.path = queryAt < 0 ? target : target.slice(0, queryAt);
    this.query = queryAt < 0 ? '' : target.slice(queryAt + 1);
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
    return remoteAddress === undefined ? '' : this.#deps.findAddress(remoteAddress, this);
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

  serve(dispatch: Dispatch): void {
    const fault = this.#fault();
    const response = fault ?? dispatch(this);
    if (response instanceof Promise) void response.then((late) => this.#respond(late));
    else this.#respond(response);
  }

  endLate(): void {
    this.refuse(tooSlow());
  }

  /** Fails the body with the refusal, so that the handler responds with the refusal. */
  refuse(refusal: Refusal): void {
    this.#inbox.giveUp(refusal);
    this.#deps.observer.refused(this);
  }

  reset(code: number): void {
    this.#stream.close(code);
  }

  get #closed(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  /** Returns the refusal of an invalid head. The rules of HTTP/1.1 also apply to HTTP/2 (RFC 9113 §8.3.1). */
  #fault(): HttpResponse | undefined {
    const { host, ':authority': authority } = this.#headers;
    let length = 0;
    for (const name in this.#headers) length += name.length + String(this.#headers[name]).length + 4;
    if (length > maxHead) return { status: 431 };
    if (host !== undefined && authority !== undefined && host !== authority) return problem(twoHosts);
    const contentLength = this.header('content-length');
    const refusal = isPlainPath(this.path) ? framingFault({ host: this.header('host'), contentLength }) : resolvable;
    return refusal && problem(refusal);
  }

  /** Destroys the stream, because after `close`, a truncated response could seem complete. */
  #break(): void {
    this.#stream.destroy(new Error('The server aborted the exchange'));
  }

  #take(chunk: Buffer): void {
    this.#received += chunk.length;
    this.#inbox.push(chunk, false);
    this.#deps.observer.grew(this, chunk.length);
  }

  /** Completes the body. A body whose length differs from the declared one is malformed (RFC 9113 §8.1.1). */
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

  #respond(plain: HttpResponse): void {
    if (this.#closed) {
      plain.chunks?.stop();
      return;
    }
    const response = withHeaders(plain, this.#deps.every);
    const { status, body, chunks } = response;
    const isBare = this.method === 'HEAD' || status === 204 || status === 304;
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const head = createHead(response);
    if (chunks === undefined && status !== 204 && status !== 304) head['content-length'] = String(length);
    const isEmpty = isBare || (chunks === undefined && length === 0);
    this.#stream.respond(head, { endStream: isEmpty });
    if (isEmpty) chunks?.stop();
    else if (chunks !== undefined) void this.#sendChunks(chunks);
    else if (length <= maxChunk) this.#stream.end(body);
    else void this.#sendChunks(splitBody(Buffer.from(body!)));
    if (!this.#inbox.complete && !this.#isBodyless) this.#discardRest();
  }

  /** Discards further data from the client. A reset instead could make the client lose the response. */
  #discardRest(): void {
    this.#deps.observer.refused(this);
    this.#deps.observer.discard(this.#stream);
  }

  /** Sends each chunk when the client has read the previous chunk. Resets the stream if a chunk fails. */
  async #sendChunks(chunks: BodyChunks): Promise<void> {
    try {
      for (;;) {
        const chunk = await chunks.next();
        if (this.#closed) return;
        if (chunk === undefined) break;
        await this.#write(chunk);
        if (this.#closed) return;
        this.unreadSince = undefined;
      }
      this.#stream.end();
    } catch {
      this.#break();
    } finally {
      chunks.stop();
    }
  }

  /** Resolves when the client has room for more, or has disconnected. */
  #write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#released = resolve;
      this.#stream.write(chunk, () => resolve());
    });
  }
}

const twoHosts = new Refusal('invalid_head', 'Send the same host in :authority and Host');

function createHead({ status, headers = {}, cookies }: HttpResponse): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = { ':status': status };
  for (const name in headers) head[name] = oneLine(headers[name]!);
  if (cookies !== undefined) head['set-cookie'] = cookies.map(oneLine);
  return head;
}

function splitBody(body: Buffer): BodyChunks {
  let at = 0;
  return {
    async next() {
      if (at >= body.length) return undefined;
      at += maxChunk;
      return body.subarray(at - maxChunk, at);
    },
    stop() {},
  };
}
