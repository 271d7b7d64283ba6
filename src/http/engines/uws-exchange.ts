import { STATUS_CODES } from 'node:http';
import { problem } from '../responses.ts';
import type { AddressFinder, BodyChunks, ByteBudget, Dispatch, HttpResponse, Request } from '../types.ts';
import { BodyInbox } from './body-inbox.ts';
import { framingFault, isPlainPath, resolvable } from './head.ts';
import { type ArrivingBody, type BodyDeadlines, linger, maxHead, tooSlow } from './limits.ts';
import { type DefaultHeaders, oneLine, withHeaders } from './response-headers.ts';

/** The functions of uWebSockets.js that this engine uses. The package is optional, and its types lack some of them. */
export interface Uws {
  App(): App;
  SSLApp(options: { cert_file_name: string; key_file_name: string; ssl_ciphers: string }): App;
  us_listen_socket_close(socket: ListenSocket): void;
  us_socket_local_port(socket: ListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

export type ListenSocket = object;

export interface App {
  any(pattern: string, handle: (res: UwsResponse, req: UwsRequest) => void): void;
  listen(host: string, port: number, option: number, listening: (socket: ListenSocket | false) => void): void;
  close(): void;
}

interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(callback: (name: string, value: string) => void): void;
}

interface UwsResponse {
  onAborted(handler: () => void): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  /** @returns false if data is still waiting for the client */
  write(chunk: Uint8Array): boolean;
  /** Called when the client has read the data. */
  onWritable(handler: (offset: number) => boolean): void;
  cork(write: () => void): void;
  writeStatus(status: string | Uint8Array): void;
  writeHeader(name: string, value: string): void;
  end(body?: string | Uint8Array, closeConnection?: boolean): void;
  endWithoutBody(): void;
  close(): void;
  pause(): void;
  resume(): void;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** Number of body bytes that restart the idle timeout of uWebSockets.js (10 s). */
const bytesPerIdleTime = 8 * 1024;

/** Length of the write buffer of uWebSockets.js. */
const writeBuffer = 16 * 1024;

interface Server {
  /** True while the listener is closing. Each response then closes its connection. */
  readonly closing: boolean;
  readonly deadlines: BodyDeadlines;
  readonly findAddress: AddressFinder;
  readonly every: DefaultHeaders;
  /** Called once per exchange, when the response is sent or the client has disconnected. */
  finished(): void;
}

/** One request and its response. Copies the head, because uWebSockets.js reuses its memory. */
export class UwsExchange implements Request, ArrivingBody {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #headers = new Map<string, string>();
  readonly #res: UwsResponse;
  readonly #inbox: BodyInbox;
  readonly #server: Server;
  #headBytes: number;
  received = 0;
  #bytesInIdleTime = 0;
  /** Set while the client of a refused body can keep sending. */
  #draining: (ArrivingBody & { bytes: number }) | undefined;
  #released = () => {};
  #over = false;

  constructor(res: UwsResponse, req: UwsRequest, server: Server) {
    this.#res = res;
    this.#server = server;
    this.#inbox = new BodyInbox(res);
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
    this.#headBytes = this.path.length + this.query.length;
    req.forEach((name, value) => {
      this.#addHeader(name, value);
    });
    res.onAborted(() => this.#abort());
  }

  get remoteAddress(): string {
    if (this.#over) return '';
    return this.#server.findAddress(Buffer.from(this.#res.getRemoteAddressAsText()).toString(), this);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  headers(): Iterable<readonly [string, string]> {
    return this.#headers;
  }

  body(limit: number, budget?: ByteBudget): Promise<Uint8Array> {
    const body = this.#inbox.read(limit, this.#headers.get('content-length'), budget);
    if (!this.#inbox.complete) this.#server.deadlines.begin(this);
    return body;
  }

  giveUp(): void {
    this.#inbox.giveUp(tooSlow());
  }

  serve(dispatch: Dispatch): void {
    const { every } = this.#server;
    const fault = this.#fault();
    if (fault !== undefined) {
      this.#respondAndClose(withHeaders(fault, every));
      return;
    }
    this.#res.onData((chunk, last) => this.#receive(chunk, last));
    const response = dispatch(this);
    if (response instanceof Promise) void response.then((late) => this.#respond(withHeaders(late, every)));
    else this.#respond(withHeaders(response, every));
  }

  #addHeader(name: string, value: string): void {
    this.#headBytes += name.length + value.length + 4;
    const before = this.#headers.get(name);
    const joined = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
    this.#headers.set(name, joined);
  }

  /** Returns the response to an invalid head that uWebSockets.js accepts: a long or ambiguous head. */
  #fault(): HttpResponse | undefined {
    if (this.#headBytes > maxHead) return { status: 431 };
    const refusal = isPlainPath(this.path)
      ? framingFault({
          host: this.header('host'),
          contentLength: this.header('content-length'),
          transferEncoding: this.header('transfer-encoding'),
        })
      : resolvable;
    return refusal && problem(refusal);
  }

  #receive(chunk: ArrayBuffer, last: boolean): void {
    if (this.#over) return; // Rest of a body that the handler did not read.
    if (this.#draining !== undefined) {
      this.#drain(chunk.byteLength, last);
    } else {
      this.#inbox.push(chunk, last);
      this.received += chunk.byteLength;
      if (last) this.#server.deadlines.end(this);
      if (!last && !this.#inbox.paused) this.#keepAlive(chunk.byteLength);
    }
  }

  #keepAlive(bytes: number): void {
    this.#bytesInIdleTime += bytes;
    if (this.#bytesInIdleTime < bytesPerIdleTime) return;
    this.#bytesInIdleTime = 0;
    this.#res.pause();
    this.#res.resume(); // Resuming restarts the idle timeout.
  }

  #respond(response: HttpResponse): void {
    if (this.#over) {
      response.chunks?.stop();
      return;
    }
    if (this.#inbox.refused) {
      this.#respondAndDrain(response);
    } else {
      this.#inbox.flow();
      if (response.chunks === undefined) this.#end(response, this.#server.closing);
      else void this.#sendChunks(response, response.chunks);
    }
  }

  /** Sends a response in chunks. Closes the connection if a chunk fails. */
  async #sendChunks({ status, headers, cookies }: HttpResponse, chunks: BodyChunks): Promise<void> {
    const head = { status, ...(headers && { headers }), ...(cookies && { cookies }) };
    try {
      if (this.method === 'HEAD') return this.#end(head, this.#server.closing);
      this.#res.cork(() => this.#writeHead(head));
      // Set only once: a handler that is set during its own call would be lost, because uWebSockets.js restores the old
      // handler.
      this.#res.onWritable(() => {
        this.#released();
        return true;
      });
      for (;;) {
        const chunk = await chunks.next();
        if (this.#over) return;
        if (chunk === undefined) break;
        let took = true;
        this.#res.cork(() => {
          took = this.#res.write(chunk);
        });
        if (!took) await this.#writable();
        if (this.#over) return;
      }
      this.#res.cork(() => this.#res.end(undefined, this.#server.closing));
      this.#finish();
    } catch {
      this.#close();
    } finally {
      chunks.stop();
    }
  }

  /** Resolves when the client has read the written data, or has disconnected. */
  #writable(): Promise<void> {
    return new Promise((resolve) => {
      this.#released = resolve;
    });
  }

  #writeHead({ status, headers, cookies }: HttpResponse): void {
    const res = this.#res;
    res.writeStatus(statusLine(status));
    for (const name in headers) res.writeHeader(name, oneLine(headers[name]!));
    if (cookies !== undefined) for (const cookie of cookies) res.writeHeader('set-cookie', oneLine(cookie));
  }

  #end(response: HttpResponse, close: boolean): void {
    const res = this.#res;
    const { status, body } = response;
    res.cork(() => {
      this.#writeHead(response);
      if (status === 204 || status === 304) endBare(res, undefined, close);
      else if (this.method === 'HEAD') endBare(res, body ?? '', close);
      else res.end(body, close);
    });
    this.#finish();
  }

  /**
   * Sends the response and closes the connection immediately, because uWebSockets.js would handle the following bytes
   * as a request. uWebSockets.js also parses all input before it writes, unless a chunk exceeds its write buffer.
   * Padding with spaces therefore makes the response longer than the buffer.
   */
  #respondAndClose({ body = '', ...head }: HttpResponse): void {
    this.#res.writeStatus(encodeResponse({ ...head, body: `${body}${' '.repeat(writeBuffer)}` }));
    this.#close();
  }

  /**
   * Sends the whole response, and closes the connection when the client has stopped sending. The response is one raw
   * chunk, because `end` would close the connection either immediately or never.
   */
  #respondAndDrain(response: HttpResponse): void {
    this.#res.cork(() => this.#res.writeStatus(encodeResponse(response)));
    this.#draining = { bytes: 0, received: 0, isRefused: true, giveUp: () => this.#close() };
    this.#server.deadlines.begin(this.#draining);
    if (this.#inbox.complete) this.#closeSoon();
  }

  #drain(bytes: number, last: boolean): void {
    const draining = this.#draining!;
    draining.bytes += bytes;
    draining.received += bytes;
    if (last || draining.bytes > linger.bytes) this.#closeSoon();
    else this.#keepAlive(bytes);
  }

  /** Closes the connection at the end of this event loop iteration, when uWebSockets.js has written its data. */
  #closeSoon(): void {
    setImmediate(() => this.#close());
  }

  #close(): void {
    if (!this.#over) this.#res.close(); // Runs #abort.
  }

  #abort(): void {
    this.#inbox.abort();
    this.#finish();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#server.deadlines.end(this);
    if (this.#draining !== undefined) this.#server.deadlines.end(this.#draining);
    this.#released();
    this.#server.finished();
  }
}

/**
 * Ends a response whose body is not sent. `endWithoutBody` gets no length, because it would wait forever for a body of
 * that length. The connection is closed by the client, or when the listener is closed.
 */
function endBare(res: UwsResponse, body: string | Uint8Array | undefined, close: boolean): void {
  if (body !== undefined) res.writeHeader('content-length', String(Buffer.byteLength(body)));
  if (close) res.writeHeader('connection', 'close');
  res.endWithoutBody();
}

/** Encodes a response as one raw chunk with `connection: close`. */
function encodeResponse({ status, headers = {}, cookies = [], body = '' }: HttpResponse): Uint8Array {
  const lines = [...Object.entries(headers), ...cookies.map((cookie) => ['set-cookie', cookie] as const)];
  const fields = lines.map(([name, value]) => `${name}: ${oneLine(value)}\r\n`);
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${statusLine(status)}\r\n${fields.join('')}${length}connection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), typeof body === 'string' ? Buffer.from(body) : body]);
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`;
}
