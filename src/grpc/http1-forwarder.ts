import { connect, type Socket } from 'node:net';
import type { HttpEngine, Listener, ListenOptions } from '../http/types.ts';

/** Time allowed for a client to read the rest of its responses after the HTTP engine has closed the connection, ms. */
const unreadTimeoutMs = 30_000;

const loopback = '127.0.0.1';

/** First source address of loopback connections, in a part of 127.0.0.0/8 that is rarely used otherwise. */
const firstSource = 0x7f_40_00_00;
const sources = 0x40_00_00;

type HttpOptions = Pick<ListenOptions, 'dispatch' | 'findAddress' | 'headers' | 'busyPaths' | 'secondMs'>;

/**
 * Passes HTTP/1.1 connections to the HTTP engine. The engine serves only connections that it accepts itself, so it
 * listens on loopback from the first connection on. Each forwarded connection has a loopback source address of its own,
 * which identifies the client.
 */
export class Http1Forwarder {
  readonly #engine: HttpEngine;
  readonly #options: ListenOptions;
  #listener: Promise<Listener> | undefined;
  /** Client addresses by the source address of the loopback connection. */
  readonly #clients = new Map<string, string>();
  #last = 0;

  constructor(engine: HttpEngine, options: HttpOptions) {
    const { dispatch, headers, busyPaths, secondMs, findAddress = (connected) => connected } = options;
    this.#engine = engine;
    this.#options = {
      host: loopback,
      port: 0,
      dispatch,
      ...(headers && { headers }),
      ...(busyPaths && { busyPaths }),
      ...(secondMs && { secondMs }),
      // An unknown source belongs to another process of this machine, or to a client that has disconnected.
      findAddress: (source, request) => {
        const client = this.#clients.get(source);
        return client === undefined ? '' : findAddress(client, request);
      },
    };
  }

  /** @param socket a socket whose first bytes are still unread, and that no other code reads */
  async forward(socket: Socket): Promise<void> {
    const client = socket.remoteAddress;
    try {
      const { port } = await this.#open();
      if (socket.destroyed || client === undefined) return;
      const source = this.#freeSource();
      this.#clients.set(source, client);
      const inner = connect({ host: loopback, port, localAddress: source, noDelay: true });
      inner.once('connect', () => join(socket, inner));
      inner.on('error', () => {}); // A 'close' event follows an error.
      inner.once('close', () => {
        this.#clients.delete(source);
        socket.setTimeout(unreadTimeoutMs, () => socket.destroy());
        socket.destroySoon();
      });
      socket.once('close', () => inner.destroy());
    } catch {
      socket.destroy(); // No file descriptor or port is free. The client connects again.
    }
  }

  async close(graceMs: number): Promise<void> {
    await (await this.#listener)?.close(graceMs);
  }

  #open(): Promise<Listener> {
    this.#listener ??= this.#engine.listen(this.#options).catch((error) => {
      this.#listener = undefined;
      throw error;
    });
    return this.#listener;
  }

  #freeSource(): string {
    for (;;) {
      this.#last = (this.#last + 1) % sources;
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(firstSource + this.#last);
      const source = bytes.join('.');
      if (!this.#clients.has(source)) return source;
    }
  }
}

function join(socket: Socket, inner: Socket): void {
  pass(socket, inner);
  pass(inner, socket);
}

function pass(from: Socket, to: Socket): void {
  from.on('data', (chunk) => {
    if (!to.write(chunk)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
}
