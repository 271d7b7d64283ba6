import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  type Metadata,
  type ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import { tooLarge } from './operations.ts';

/** A call as grpc-js makes it (`BaseServerInterceptingCall`): its types leave the fields out. */
interface LibraryCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  /** 0 between two messages. */
  readonly decoder: { readonly readState: number };
  sendStatus(status: StatusObject): void;
}

/** Where a connection comes from. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** A call whose message is not whole. */
export interface OpenCall {
  readonly path: string;
  readonly metadata: Metadata;
  /** What came first: the frame's head and the beginning of the message. */
  head: Buffer | undefined;
}

export interface GuardOptions {
  readonly clock: Clock;
  /** Bytes that all calls may hold whose messages are not whole; and those whose answers are not taken. */
  readonly maxBytes: number;
  /** The connection of a session has brought a whole call. */
  used(session: object, peer: () => Peer): void;
  /** The library, or the guard itself, refuses a call before its handler has seen it. Gives what to end it with. */
  refused(refusal: ApiError, call: OpenCall): StatusObject;
  /** Most bytes of a message. */
  readonly maxReport: number;
}

/** What a call takes of our memory before anything of its message has come: `npm run bench -- hostile-grpc` measures it. */
export const bytesPerCall = 32 * 1024;

/** How long the message of a call may take to become whole, ms. */
export const messageTimeoutMs = 30_000;

/** How long the peer may take to accept what was sent to it, ms. */
const unreadTimeoutMs = 30_000;

class Open implements OpenCall {
  readonly path: string;
  readonly call: LibraryCall;
  /** Whether it may bring several messages. */
  readonly streams: boolean;
  since: number;
  bytes = bytesPerCall;
  head: Buffer | undefined;
  /** When it was first seen that the peer does not take what it was sent. */
  unreadSince: number | undefined;
  /** Whether it was refused: what comes of it later says nothing more. */
  refused = false;

  constructor(path: string, call: LibraryCall, streams: boolean, since: number) {
    this.path = path;
    this.call = call;
    this.streams = streams;
    this.since = since;
  }

  get metadata(): Metadata {
    return this.call.metadata;
  }

  /** Whether something that was sent waits: the peer gives no room for it (RFC 9113 §5.2). */
  get unread(): boolean {
    const { stream } = this.call;
    return stream.writableLength > 0 || stream.writableEnded;
  }
}

/**
 * Watches calls until their streams are closed. Until a message is whole the application is unknown, so anyone can make the
 * service hold memory for it; and so can those who do not take their answers. The guard ends calls that take too long, and
 * the oldest when all together hold too much; and it reports calls that the library refuses by itself.
 */
export class GrpcGuard {
  /** Bytes that calls hold whose messages are not whole. */
  bytes = 0;
  /** Calls that were cut short, since this was last set to 0: before their messages were whole, or their answers taken. */
  broken = 0;
  /** Calls whose answers are not taken, as of the last sweep. */
  unread = 0;
  readonly #options: GuardOptions;
  /** Those whose messages are not whole, in the order in which they began. */
  readonly #open = new Set<Open>();
  /** Those whose streams are still open though nothing more is read from them, in the order in which they became so. */
  readonly #read = new Set<Open>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Calls whose messages are not whole. */
  get size(): number {
    return this.#open.size;
  }

  readonly interceptor: ServerInterceptor = ({ path, requestStream }, call) => {
    this.#watch(new Open(path, call as LibraryCall, requestStream, this.#options.clock.monotonic()));
    return call as unknown as ServerInterceptingCall;
  };

  /** Ends the calls that have taken too long; to be called now and then. */
  sweep(): void {
    const now = this.#options.clock.monotonic();
    this.#dropUnread(now);
    for (const open of this.#open) {
      if (now - open.since < messageTimeoutMs) break;
      if (open.streams && open.head !== undefined && open.call.decoder.readState === 0)
        this.#renew(open, now);
      else this.#end(open, new ApiError('deadline_exceeded', 'The message was not whole in time'));
    }
  }

  /** An answer on its way is often unread, so only what two sweeps have found so counts. */
  #dropUnread(now: number): void {
    const unread = [...this.#findUnread(this.#read, now), ...this.#findUnread(this.#open, now)];
    const excess = unread.length - Math.floor(this.#options.maxBytes / bytesPerCall);
    unread.forEach(({ call, unreadSince }, index) => {
      if (index < excess || now - unreadSince! >= unreadTimeoutMs)
        call.stream.close(constants.NGHTTP2_CANCEL);
    });
    this.unread = unread.length;
  }

  *#findUnread(calls: Iterable<Open>, now: number): Generator<Open> {
    for (const open of calls) {
      if (!open.unread) open.unreadSince = undefined;
      else if (open.unreadSince === undefined) open.unreadSince = now;
      else yield open;
    }
  }

  #watch(open: Open): void {
    const { call } = open;
    const { stream } = call;
    this.#open.add(open);
    this.bytes += open.bytes;
    // Before the library's own listener, which may refuse what has come.
    stream.prependListener('data', (chunk: Buffer) => {
      open.head ??= chunk;
      this.#take(open, chunk.length);
    });
    stream.on('end', () => {
      this.#release(open);
      if (call.decoder.readState === 0) open.head = undefined;
      if (stream.session !== undefined) this.#options.used(stream.session, () => call.getConnectionInfo());
    });
    stream.on('close', () => {
      if (this.#release(open) || open.unreadSince !== undefined) this.broken += 1;
      this.#read.delete(open);
      open.head = undefined;
    });
    const send = call.sendStatus;
    call.sendStatus = (sent) => send.call(call, this.#explain(open, sent));
    this.#makeRoom();
  }

  #take(open: Open, bytes: number): void {
    if (!this.#open.has(open)) return;
    open.bytes += bytes;
    this.bytes += bytes;
    this.#makeRoom();
  }

  #makeRoom(): void {
    if (this.bytes <= this.#options.maxBytes) return;
    for (const open of this.#open) {
      this.#end(open, new ApiError('backpressure', 'Too many messages are not whole', 5));
      if (this.bytes <= this.#options.maxBytes) return;
    }
  }

  /** Gives whether the call was still open. */
  #release(open: Open): boolean {
    if (!this.#open.delete(open)) return false;
    this.#read.add(open);
    this.bytes -= open.bytes;
    return true;
  }

  /** A stream between two messages holds nothing, and may stay. */
  #renew(open: Open, now: number): void {
    this.#open.delete(open);
    this.#open.add(open);
    this.bytes += bytesPerCall - open.bytes;
    open.bytes = bytesPerCall;
    open.since = now;
  }

  /** The peer may never end its side, so the stream is reset after the answer (RFC 9113 §8.1). */
  #end(open: Open, refusal: ApiError): void {
    const answer = this.#refuse(open, refusal);
    if (this.#release(open)) this.broken += 1;
    // Not in the middle of reading from the stream.
    setImmediate(() => {
      const { call } = open;
      call.sendStatus(answer);
      // A stream that is closed while earlier answers wait cannot be reset any more.
      if (call.stream.writableLength === 0) call.stream.close();
    });
  }

  #refuse(open: Open, refusal: ApiError): StatusObject {
    open.refused = true;
    return this.#options.refused(refusal, open);
  }

  /** What the library sends by itself has no code of ours. */
  #explain(open: Open, sent: StatusObject): StatusObject {
    // A call that its client has cancelled ends as if its message were not whole.
    if (
      sent.code === status.OK ||
      open.refused ||
      open.call.stream.aborted ||
      sent.metadata?.get('flagmeter-code').length
    )
      return sent;
    const refusal = refusalOf(sent, this.#open.has(open), this.#options.maxReport);
    return refusal === undefined ? sent : this.#refuse(open, refusal);
  }
}

/** What the library means when it refuses a call; the first row that fits. */
const reasons: readonly (readonly [code: number, details: RegExp, ErrorCode, detail: string])[] = [
  [status.UNIMPLEMENTED, /encoding/, 'message_compressed', 'Send the message as it is, or as gzip'],
  [status.UNIMPLEMENTED, /message/, 'invalid_protobuf', 'Send one whole message'],
  [status.INTERNAL, /decompress/, 'invalid_content_encoding', 'The message is not whole and valid gzip'],
  [status.INTERNAL, /grpc-timeout/, 'invalid_protobuf', 'grpc-timeout must be like 500m'],
];

/** @param open whether the message is not whole yet: later the deadline of a call says nothing of its report */
function refusalOf({ code, details }: StatusObject, open: boolean, maxReport: number): ApiError | undefined {
  if (code === status.RESOURCE_EXHAUSTED) return tooLarge(maxReport);
  if (code === status.DEADLINE_EXCEEDED) {
    return open
      ? new ApiError('deadline_exceeded', 'The deadline passed before the message was whole')
      : undefined;
  }
  const found = reasons.find(([of, pattern]) => of === code && pattern.test(details));
  return found && new ApiError(found[2], found[3]);
}
