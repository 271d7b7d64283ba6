import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawResponse {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const headEnd = '\r\n\r\n';

/** A client that writes exactly the given bytes, and reads responses one by one. */
export class RawClient {
  readonly socket: Socket;
  /**
   * Resolves with `closed` or `reset`. Await this last, because it resolves only after the server has closed the
   * connection.
   */
  readonly ended: Promise<'closed' | 'reset'>;
  #received: Buffer = Buffer.alloc(0);
  #over = false;
  #waiting: (() => void)[] = [];

  /** @param localAddress source address in 127.0.0.0/8 */
  static async open(port: number, localAddress = '127.0.0.1'): Promise<RawClient> {
    const client = new RawClient(connect({ port, host: '127.0.0.1', noDelay: true, localAddress }));
    await once(client.socket, 'connect');
    return client;
  }

  /** Connects over TLS, without checking the certificate. */
  static async openTls(port: number): Promise<RawClient> {
    const client = new RawClient(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }));
    await once(client.socket, 'secureConnect');
    return client;
  }

  constructor(socket: Socket) {
    this.socket = socket;
    let failed = false;
    this.ended = new Promise((resolve) => {
      socket.on('close', () => resolve(failed ? 'reset' : 'closed'));
    });
    socket.on('error', () => {
      failed = true;
    });
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on('close', () => {
      this.#over = true;
      this.#wake();
    });
    socket.on('drain', () => this.#wake());
  }

  /** Received bytes that `read` has not returned yet, as text. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  write(data: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  /** Writes until `total` bytes are accepted or the server has closed. Returns the number of bytes written. */
  async flood(total: number, chunk = Buffer.alloc(16_384, 'a')): Promise<number> {
    let written = 0;
    while (written < total && this.socket.writable) {
      const taken = this.socket.write(chunk);
      written += chunk.length;
      if (!taken) await this.#change();
      else await new Promise(setImmediate);
    }
    return written;
  }

  /** Returns the status of the next response, without reading the response. */
  async status(): Promise<number> {
    const end = await this.#find('\r\n');
    return Number(this.#received.toString('latin1', 0, end).split(' ')[1]);
  }

  /** @param method of the request, because a response to `HEAD` never has a body */
  async read(method = 'GET'): Promise<RawResponse> {
    const head = (await this.#take(await this.#find(headEnd))).toString('latin1');
    await this.#take(headEnd.length);
    const [line, ...fields] = head.split('\r\n');
    const headers = new Map(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const status = Number(line?.split(' ')[1]);
    const empty = method === 'HEAD' || status === 204 || status === 100;
    return { status, headers, body: empty ? Buffer.alloc(0) : await this.#readBody(headers) };
  }

  close(): void {
    this.socket.destroy();
  }

  async #readBody(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    const length = headers.get('content-length');
    if (length !== undefined) return this.#take(Number(length));
    if (headers.get('transfer-encoding') !== 'chunked') return Buffer.alloc(0);
    const chunks: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt((await this.#take(await this.#find('\r\n'))).toString(), 16);
      await this.#take(2);
      chunks.push(await this.#take(size));
      await this.#take(2);
      if (size === 0) return Buffer.concat(chunks);
    }
  }

  async #find(text: string): Promise<number> {
    for (;;) {
      const at = this.#received.indexOf(text);
      if (at >= 0) return at;
      await this.#more();
    }
  }

  async #take(length: number): Promise<Buffer> {
    while (this.#received.length < length) await this.#more();
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  async #more(): Promise<void> {
    if (this.#over) throw new Error(`The connection ended after ${JSON.stringify(this.#received.toString('latin1'))}`);
    await this.#change();
  }

  /** Resolves when data is received or sent, or the connection ends. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
