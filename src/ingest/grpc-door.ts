import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:tls';
import { bindFailure } from '../http/bind-failure.ts';
import type { Peer } from './grpc-guard.ts';

/** A certificate chain and its private key, PEM both. */
export interface GrpcTls {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

export interface DoorOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: GrpcTls;
  /** Connections that may be open at once; of more the one that was of no use for the longest time is closed. */
  readonly mostConnections: number;
  /** The port of HTTP, for whoever speaks it here. */
  readonly httpPort?: number | undefined;
  /** Takes a connection that speaks HTTP/2. */
  enter(socket: Socket): void;
}

/** A connection is closed that has not said within this time, in ms, what it speaks. */
const greetingMs = 10_000;

/** How HTTP/2 begins (RFC 9113 §3.4). */
const preface = Buffer.from('PRI');

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  /** Grows from use to use; 0 before the first. */
  usedAt: number;
  entered: boolean;
}

/**
 * Accepts the connections of the gRPC listener: not more than there may be, and only such as speak HTTP/2. The library
 * would take any number, and close one that speaks HTTP/1.1 without a word.
 */
export class GrpcDoor {
  port = 0;
  readonly #options: DoorOptions;
  readonly #server: Server | SecureServer;
  readonly #connections = new Set<Connection>();
  readonly #byPeer = new Map<string, Connection>();
  readonly #bySession = new WeakMap<object, Connection>();
  #uses = 0;

  /** @throws {Error} when the address cannot be bound; the message names it and says why */
  static async open(options: DoorOptions): Promise<GrpcDoor> {
    const door = new GrpcDoor(options);
    const { host, port } = options;
    try {
      await new Promise<void>((resolve, reject) => {
        door.#server.once('error', reject);
        door.#server.listen(port, host, () => resolve());
      });
    } catch (error) {
      throw await bindFailure(host, port, error as NodeJS.ErrnoException);
    }
    door.port = (door.#server.address() as { port: number }).port;
    return door;
  }

  private constructor(options: DoorOptions) {
    this.#options = options;
    const { tls } = options;
    const accept = (socket: Socket) => this.#accept(socket);
    this.#server =
      tls === undefined
        ? createServer({ noDelay: true }, accept)
        : createSecureServer(
            { ...tls, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: greetingMs, noDelay: true },
            accept,
          );
  }

  /** Connections that are open. */
  get size(): number {
    return this.#connections.size;
  }

  /** New connections get another certificate; without TLS there is none to replace. */
  renewTls(tls: GrpcTls): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(tls);
  }

  /** Hears that a connection has brought a whole call. */
  used(session: object, { remoteAddress, remotePort }: Peer): void {
    let connection = this.#bySession.get(session);
    if (connection === undefined) {
      connection = this.#byPeer.get(peerOf(remoteAddress, remotePort));
      if (connection === undefined) return;
      this.#bySession.set(session, connection);
    }
    this.#uses += 1;
    connection.usedAt = this.#uses;
  }

  /** Stops accepting; what has not entered goes. */
  close(): void {
    this.#server.close();
    for (const { socket, entered } of this.#connections) if (!entered) socket.destroy();
  }

  /** Closes what is still open. */
  destroy(): void {
    for (const { socket } of this.#connections) socket.destroy();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {}); // The 'close' event follows; a broken connection needs no answer.
    const connection: Connection = {
      socket,
      peer: peerOf(socket.remoteAddress, socket.remotePort),
      usedAt: 0,
      entered: false,
    };
    this.#connections.add(connection);
    this.#byPeer.set(connection.peer, connection);
    socket.once('close', () => this.#forget(connection));
    if (this.#connections.size > this.#options.mostConnections) this.#closeOne(connection);
    this.#greet(connection);
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#byPeer.get(connection.peer) === connection) this.#byPeer.delete(connection.peer);
  }

  /** Closes the connection that was of no use for the longest time; of several the oldest. */
  #closeOne(added: Connection): void {
    let idle: Connection | undefined;
    for (const each of this.#connections) {
      if (each !== added && (idle === undefined || each.usedAt < idle.usedAt)) idle = each;
    }
    if (idle === undefined) return;
    this.#forget(idle);
    idle.socket.destroy();
  }

  #greet(connection: Connection): void {
    const { socket } = connection;
    const timer = setTimeout(() => socket.destroy(), greetingMs);
    let head = Buffer.alloc(0);
    const read = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      head = Buffer.concat([head, chunk]);
      if (head.length < preface.length && preface.indexOf(head) === 0) return;
      clearTimeout(timer);
      socket.off('readable', read);
      if (head.indexOf(preface) !== 0) return this.#sayWhatThisIs(socket, head);
      socket.unshift(head);
      connection.entered = true;
      this.#options.enter(socket);
    };
    socket.on('readable', read);
    socket.once('close', () => clearTimeout(timer));
  }

  /** RFC 9110 §15.6.6: the version is not supported. What is no HTTP at all gets no answer. */
  #sayWhatThisIs(socket: Socket, head: Buffer): void {
    if (!/^[A-Z]{3,}/.test(head.toString('latin1', 0, 16))) {
      socket.destroy();
      return;
    }
    const { httpPort, tls } = this.#options;
    const elsewhere =
      httpPort === undefined ? '' : ` HTTP${tls === undefined ? '' : 'S'} is on port ${httpPort}.`;
    const text = `This is the gRPC port of flagmeter, which speaks HTTP/2 only.${elsewhere}\n`;
    const lines = [
      'HTTP/1.1 505 HTTP Version Not Supported',
      'content-type: text/plain; charset=utf-8',
      `content-length: ${text.length}`,
      'connection: close',
    ];
    socket.resume();
    socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => socket.destroySoon());
  }
}

function peerOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`;
}
