import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { Refusal } from '../contract/errors.ts';
import { frameBytes, headerBytes } from '../http/grpc-frame.ts';
import { givenRequestId, requestIdHeader } from '../http/request-ids.ts';
import type { SlowRequests } from '../http/slow-requests.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';
import type { MethodTotals } from './call-totals.ts';
import { messageTimeoutMs, type StreamObserver, type WatchedStream } from './guard.ts';
import {
  messageFrame,
  ok,
  type RpcStatus,
  rpcCodes,
  statusFields,
  timeoutMs,
  tooLarge,
  toRpcStatus,
} from './protocol.ts';

interface EndingCall {
  sendTrailers(): void;
}

/** Maximum number of calls whose trailers are sent together. */
const most = 64;

/**
 * Sends the trailers of several calls together. Trailers that one session sends in an event loop iteration share a
 * packet. Otherwise, Bun sends a packet of ten bytes, with one system call, for each stream.
 */
export class Trailers {
  #ending: EndingCall[] = [];

  add(call: EndingCall): void {
    const waiting = this.#ending.push(call);
    if (waiting === 1) setImmediate(() => this.#send());
    else if (waiting === most) this.#send();
  }

  #send(): void {
    const ending = this.#ending;
    this.#ending = [];
    for (const call of ending) call.sendTrailers();
  }
}

export interface Method {
  /** `/Service/Method`, as in HTTP/2. */
  readonly path: string;
  /** True if the client streams messages. Otherwise its message is handled when the stream has ended. */
  readonly streams?: boolean;
  /** Handles a message that is still in its frame. Must not throw. */
  receive(call: Call, frame: Buffer): void;
  /** Called if a call was refused before its message was complete. */
  refused?(call: Call, refusal: Refusal): void;
}

interface CallDeps {
  readonly connection: Connection;
  readonly observer: StreamObserver;
  readonly maxMessage: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly row: MethodTotals;
  readonly trailers: Trailers;
  readonly slow?: SlowRequests;
  readonly now: number;
}

const responseHeaders: OutgoingHttpHeaders = {
  ':status': 200,
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': 'identity,deflate,gzip',
};

const trailersFollow = { waitForTrailers: true };
const okTrailers = createTrailers(ok);
const noChunks: Buffer[] = [];
const noop = () => {};

export class Call implements WatchedStream {
  readonly method: Method;
  readonly connection: Connection;
  since: number;
  bytes = 0;
  unreadSince: number | undefined;
  onClosed: () => void = noop;
  readonly #headers: IncomingHttpHeaders;
  readonly #stream: ServerHttp2Stream;
  readonly #observer: StreamObserver;
  readonly #deps: CallDeps;
  readonly #began: number;
  #isCounted = false;
  #reading = true;
  /** Chunks received but not yet handled. */
  #chunks: Buffer[] = [];
  #length = 0;
  #messages = 0;
  #trailers = okTrailers;

  constructor(method: Method, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, deps: CallDeps) {
    const { connection, observer, now } = deps;
    this.method = method;
    this.connection = connection;
    this.#headers = headers;
    this.since = now;
    this.#began = now;
    this.#deps = deps;
    this.#stream = stream;
    this.#observer = observer;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#end());
    stream.on('close', () => this.#close());
  }

  header(name: string): string | undefined {
    return this.#headers[name] as string | undefined;
  }

  get unread(): boolean {
    return this.#stream.writableLength > 0 || this.#stream.writableEnded;
  }

  get idle(): boolean {
    return this.#length === 0 && this.#messages > 0;
  }

  /** Time allowed for the message, ms; at most the time until the deadline of the call. */
  get allowedMs(): number {
    return Math.min(messageTimeoutMs, timeoutMs(this.header('grpc-timeout')) ?? messageTimeoutMs);
  }

  get closed(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  /** Returns the beginning of an incomplete message; `undefined` if the message is compressed. */
  beginning(maxBytes: number): Buffer | undefined {
    const [first] = this.#chunks;
    if (first?.[0] !== 0) return undefined;
    return Buffer.concat(this.#chunks, Math.min(this.#length, headerBytes + maxBytes)).subarray(headerBytes);
  }

  /** Sends a message. Then reads nothing from the client until the client has read the message. */
  send(message: Uint8Array): void {
    if (this.closed) return;
    this.#respond();
    if (this.#stream.write(messageFrame(message))) return;
    this.#stream.pause();
    this.#stream.once('drain', () => this.#goOn());
  }

  /** Ends the call successfully. */
  end(frame?: Uint8Array): void {
    if (this.closed) return;
    this.#count(rpcCodes.ok);
    this.#respond();
    if (frame === undefined) this.#stream.end();
    else this.#stream.end(frame);
  }

  /** Ends the call with a status that is not OK. */
  fail(rpc: RpcStatus): void {
    if (this.closed) return;
    this.#count(rpc.code);
    if (!this.#stream.headersSent) {
      this.#stream.respond(trailersOnly(rpc), { endStream: true });
    } else if (!this.#stream.writableEnded) {
      this.#trailers = createTrailers(rpc);
      this.#stream.end();
    }
  }

  /** Called by `Trailers`. */
  sendTrailers(): void {
    if (!this.closed) this.#stream.sendTrailers(this.#trailers);
  }

  endLate(): void {
    this.refuse(new Refusal('deadline_exceeded', 'The message was not complete in time'));
  }

  /**
   * Ends the call before its message is complete. The client might never end its side, so the stream is reset after the
   * response (RFC 9113 §8.1).
   */
  refuse(refusal: Refusal): void {
    if (!this.#reading) return;
    this.#reading = false;
    this.method.refused?.(this, refusal);
    this.#chunks = noChunks;
    this.#observer.refused(this);
    // Responds later, because the data handler of the stream can be running now.
    setImmediate(() => {
      this.fail(toRpcStatus(refusal));
      // A closed stream cannot be reset. While responses wait, it therefore stays open, so that the guard can reset it.
      if (this.#stream.writableLength === 0) this.#stream.close();
    });
  }

  reset(code: number): void {
    this.#stream.close(code);
  }

  #count(code: number): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    const { row, clock, slow } = this.#deps;
    const ms = clock.monotonic() - this.#began;
    row.count(code, this.method.streams ? undefined : ms);
    if (slow === undefined || this.method.streams || ms < slow.fromMs) return;
    const requestId = givenRequestId(this.header(requestIdHeader));
    const summary = { transport: 'grpc', route: this.method.path, status: code, ms };
    slow.log({ ...summary, ...(requestId && { requestId }) });
  }

  #respond(): void {
    if (this.#stream.headersSent) return;
    this.#stream.on('wantTrailers', () => this.#deps.trailers.add(this));
    this.#stream.respond(responseHeaders, trailersFollow);
  }

  #take(chunk: Buffer): void {
    if (!this.#reading) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#observer.grew(this, chunk.length);
    this.#readFrames();
  }

  /** Passes on complete frames of a streaming call, unless the client leaves responses unread. Checks each length. */
  #readFrames(): void {
    const { streams = false } = this.method;
    const { maxMessage } = this.#deps;
    while (this.#reading && this.#length >= headerBytes && !this.#stream.isPaused()) {
      const bytes = frameBytes(this.#joined());
      if (bytes - headerBytes > maxMessage) this.refuse(tooLarge(maxMessage));
      else if (!streams && this.#length > bytes) this.refuse(notOne);
      else if (streams && this.#length >= bytes) this.method.receive(this, this.#takeFrame(bytes));
      else return;
    }
  }

  #goOn(): void {
    this.#stream.resume();
    this.#readFrames();
  }

  /** Joins chunks, so that the first chunk contains at least the header of a frame. */
  #joined(): Buffer {
    if (this.#chunks.length > 1 && this.#chunks[0]!.length < headerBytes) {
      this.#chunks = [Buffer.concat(this.#chunks)];
    }
    return this.#chunks[0]!;
  }

  #takeFrame(bytes: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#length -= bytes;
    this.#chunks = this.#length === 0 ? [] : [all.subarray(bytes)];
    this.#messages += 1;
    this.#observer.grew(this, -bytes);
    return all.subarray(0, bytes);
  }

  #end(): void {
    if (!this.#reading) return;
    const { streams = false } = this.method;
    const isWhole = this.#length >= headerBytes && this.#length === frameBytes(this.#joined());
    if (!isWhole && !(streams && this.#length === 0)) {
      this.refuse(notOne);
      return;
    }
    const frame = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#stop();
    if (streams) this.end();
    else this.method.receive(this, frame);
  }

  #stop(): void {
    this.#reading = false;
    this.#chunks = noChunks;
    this.#observer.whole(this);
  }

  #close(): void {
    this.#reading = false;
    this.#chunks = noChunks;
    this.#count(rpcCodes.cancelled);
    this.#observer.closed(this);
    this.onClosed();
  }
}

const notOne = new Refusal('invalid_protobuf', 'Send one complete message');

/** Returns the single header block of a call that fails before any response was sent. */
export function trailersOnly(rpc: RpcStatus): OutgoingHttpHeaders {
  return { ...responseHeaders, ...createTrailers(rpc) };
}

function createTrailers(rpc: RpcStatus): OutgoingHttpHeaders {
  return Object.fromEntries(statusFields(rpc));
}
