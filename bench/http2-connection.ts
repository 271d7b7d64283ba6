/** Types of the HTTP/2 frames (RFC 9113 §6) that a unary gRPC call needs. */
const frames = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const endStream = 0x1;
const endHeaders = 0x4;
const ack = 0x1;

const frameHead = 9;
/** Flow control window of a connection before the settings of the peer arrive. */
const firstWindow = 65_535;
const largestWindow = 0x7fffffff;

/** Called with the response to a call, or with `undefined` if the call failed. */
export type ResponseListener = (stream: number, message: Uint8Array | undefined) => void;

/**
 * The client side of an HTTP/2 connection, reduced to the needs of a load generator. It parses only frames and
 * messages, so it needs much less CPU than the target.
 */
export class Http2Connection {
  readonly #socket: { write(bytes: Uint8Array): number };
  readonly #onResponse: ResponseListener;
  readonly #head: Buffer;
  readonly #responses = new Map<number, Uint8Array>();
  #nextStream = 1;
  #window = firstWindow;
  /** Calls that wait for the flow control window. */
  readonly #waiting: { readonly stream: number; readonly message: Uint8Array }[] = [];
  #unsent: Uint8Array[] = [];
  #unread: Buffer = Buffer.alloc(0);

  constructor(
    socket: { write(bytes: Uint8Array): number },
    authority: string,
    path: string,
    onResponse: ResponseListener,
  ) {
    this.#socket = socket;
    this.#onResponse = onResponse;
    this.#head = requestHeaders(authority, path);
    const settings = Buffer.concat([setting(1, 0), setting(4, largestWindow)]);
    const more = Buffer.alloc(4);
    more.writeUInt32BE(largestWindow - firstWindow);
    this.#send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'));
    this.#send(frame(frames.settings, 0, 0, settings), frame(frames.windowUpdate, 0, 0, more));
  }

  /** Starts a call, and returns the number that identifies its response. */
  call(message: Uint8Array): number {
    const stream = this.#nextStream;
    this.#nextStream += 2;
    if (this.#window < message.length + 5) this.#waiting.push({ stream, message });
    else this.#begin(stream, message);
    return stream;
  }

  /** Sends the bytes that the socket has not accepted yet. */
  flush(): void {
    const chunks = this.#unsent;
    this.#unsent = [];
    this.#send(...chunks);
  }

  /** Reads a chunk of responses. @throws {Error} if the peer closes the connection */
  receive(chunk: Uint8Array): void {
    const bytes = this.#unread.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#unread, chunk]);
    let at = 0;
    while (bytes.length - at >= frameHead) {
      const end = at + frameHead + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const stream = bytes.readUInt32BE(at + 5);
      this.#take(bytes[at + 3]!, bytes[at + 4]!, stream, bytes.subarray(at + frameHead, end));
      at = end;
    }
    this.#unread = bytes.subarray(at);
  }

  #take(type: number, flags: number, stream: number, content: Buffer): void {
    switch (type) {
      case frames.data:
        this.#responses.set(stream, Uint8Array.from(content.subarray(5)));
        break;
      case frames.reset:
        this.#end(stream, undefined);
        return;
      case frames.settings:
        if ((flags & ack) === 0) this.#send(frame(frames.settings, ack, 0, Buffer.alloc(0)));
        return;
      case frames.ping:
        if ((flags & ack) === 0) this.#send(frame(frames.ping, ack, 0, content));
        return;
      case frames.goAway:
        throw new Error(`the peer closed the connection: ${content.subarray(8)}`);
      case frames.windowUpdate:
        if (stream === 0) this.#widen(content.readUInt32BE(0));
        return;
    }
    if ((flags & endStream) !== 0 && stream !== 0) this.#end(stream, this.#responses.get(stream));
  }

  #end(stream: number, message: Uint8Array | undefined): void {
    this.#responses.delete(stream);
    this.#onResponse(stream, message);
  }

  #widen(by: number): void {
    this.#window += by;
    while (this.#waiting.length > 0 && this.#window >= this.#waiting[0]!.message.length + 5) {
      const { stream, message } = this.#waiting.shift()!;
      this.#begin(stream, message);
    }
  }

  #begin(stream: number, message: Uint8Array): void {
    this.#window -= message.length + 5;
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    const data = Buffer.concat([prefix, message]);
    this.#send(
      Buffer.concat([
        frame(frames.headers, endHeaders, stream, this.#head),
        frame(frames.data, endStream, stream, data),
      ]),
    );
  }

  #send(...chunks: Uint8Array[]): void {
    for (const chunk of chunks) {
      const sent = this.#unsent.length > 0 ? 0 : Math.max(0, this.#socket.write(chunk));
      if (sent < chunk.length) this.#unsent.push(chunk.subarray(sent));
    }
  }
}

function frame(type: number, flags: number, stream: number, content: Uint8Array): Buffer {
  const head = Buffer.alloc(frameHead);
  head.writeUIntBE(content.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, content]);
}

function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/**
 * Returns the header block of a unary call (RFC 7541 §6). Its fields are in the static table, or are literals that are
 * not indexed.
 */
function requestHeaders(authority: string, path: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat([
    Buffer.from([0x83, 0x86]), // :method POST, :scheme http
    ...[Buffer.from([0x04]), text(path)],
    ...[Buffer.from([0x01]), text(authority)],
    ...[Buffer.from([0x0f, 0x10]), text('application/grpc')], // content-type
    ...[Buffer.from([0x00]), text('te'), text('trailers')],
  ]);
}
