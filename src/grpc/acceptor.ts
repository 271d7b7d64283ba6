import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, type Server as SecureServer, TLSSocket } from 'node:tls';
import { bindFailure } from '../http/bind-failure.ts';
import { cipherSuites, type TlsPair } from '../http/tls.ts';
import { type IpNetworks, plainAddress } from '../runtime/addresses.ts';

interface AcceptorOptions {
  readonly host: string;
  /** Port 0 picks any free port. */
  readonly port: number;
  readonly tls?: TlsPair | undefined;
  /** Maximum number of connections. Above it, the address with the most connections loses one for each new connection. */
  readonly maxConnections: number;
  /** Trusted proxies. Their connections have no per-address limit, because each serves many clients. */
  readonly trusted?: Pick<IpNetworks, 'has'> | undefined;
  accepted(connection: Connection): void;
  /** Takes a connection that does not speak HTTP/2. Its first bytes are unread. */
  acceptedHttp1(socket: Socket): void;
}

/** Time within which a connection must send its first bytes, ms. */
const prefaceMs = 10_000;

/** The HTTP/2 preface (RFC 9113 §3.4). */
const preface = Buffer.from('PRI');

export interface Connection {
  readonly socket: Socket;
  /** Address of the client; `undefined` for a trusted proxy. */
  readonly from: string | undefined;
  /** Sequence number of this connection's last use, counted over all connections; 0 before its first use. */
  usedAt: number;
  busyAt: number;
  accepted: boolean;
}

/**
 * Accepts the connections of the gRPC listener. Limits the number of HTTP/2 connections, which `node:http2` cannot do.
 * Hands over all other connections.
 */
export class GrpcAcceptor {
  port = 0;
  readonly #options: AcceptorOptions;
  readonly #server: Server | SecureServer;
  readonly #connections = new Set<Connection>();
  #uses = 0;

  /** @throws {Error} with the address and the reason if the address cannot be bound */
  static async open(options: AcceptorOptions): Promise<GrpcAcceptor> {
    const acceptor = new GrpcAcceptor(options);
    const { host, port } = options;
    try {
      await new Promise<void>((resolve, reject) => {
        acceptor.#server.once('error', reject);
        acceptor.#server.listen(port, host, () => resolve());
      });
    } catch (error) {
      throw await bindFailure(host, port, error as NodeJS.ErrnoException);
    }
    acceptor.port = (acceptor.#server.address() as { port: number }).port;
    return acceptor;
  }

  private constructor(options: AcceptorOptions) {
    this.#options = options;
    const { tls } = options;
    const accept = (socket: Socket) => this.#accept(socket);
    this.#server =
      tls === undefined
        ? createServer({ noDelay: true }, accept)
        : createSecureServer(
            {
              ...tls,
              ciphers: cipherSuites,
              ALPNProtocols: ['h2', 'http/1.1'],
              handshakeTimeout: prefaceMs,
              noDelay: true,
            },
            accept,
          );
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Uses another certificate for new connections. Does nothing without TLS. */
  renewTls(tls: TlsPair): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext({ ...tls, ciphers: cipherSuites });
  }

  used(connection: Connection): void {
    this.#uses += 1;
    connection.usedAt = this.#uses;
  }

  /** Stops accepting, and closes the connections that were not accepted yet. */
  close(): void {
    this.#server.close();
    for (const { socket, accepted } of this.#connections) if (!accepted) socket.destroy();
  }

  destroy(): void {
    for (const { socket } of this.#connections) socket.destroy();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {}); // A 'close' event follows an error.
    const connection: Connection = { socket, from: this.#findSource(socket), usedAt: 0, busyAt: 0, accepted: false };
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
    if (this.#connections.size > this.#options.maxConnections) this.#closeOne(connection);
    this.#readPreface(connection);
  }

  /** Closes the least recently used connection of the address with the most connections. */
  #closeOne(added: Connection): void {
    const counts = new Map<string | undefined, number>();
    for (const { from } of this.#connections) {
      counts.set(from, from === undefined ? 1 : (counts.get(from) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    let idle: Connection | undefined;
    for (const each of this.#connections) {
      if (each === added || counts.get(each.from) !== most) continue;
      if (idle === undefined || each.usedAt < idle.usedAt) idle = each;
    }
    if (idle === undefined) return;
    this.#connections.delete(idle);
    idle.socket.destroy();
  }

  #findSource({ remoteAddress = '' }: Socket): string | undefined {
    const address = plainAddress(remoteAddress) ?? remoteAddress;
    return this.#options.trusted?.has(address) === true ? undefined : address;
  }

  #readPreface(connection: Connection): void {
    const { socket } = connection;
    const timer = setTimeout(() => socket.destroy(), prefaceMs);
    let head = Buffer.alloc(0);
    const read = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      head = Buffer.concat([head, chunk]);
      if (head.length < preface.length && preface.indexOf(head) === 0) return;
      clearTimeout(timer);
      socket.off('readable', read);
      socket.unshift(head);
      this.#sort(connection, head.indexOf(preface) === 0);
    };
    socket.on('readable', read);
    socket.once('close', () => clearTimeout(timer));
  }

  /** Hands over a connection by protocol. The result of ALPN must match the first bytes (RFC 9113 §3.2). */
  #sort(connection: Connection, isHttp2: boolean): void {
    const { socket } = connection;
    const chosen = socket instanceof TLSSocket && socket.alpnProtocol;
    if (chosen && (chosen === 'h2') !== isHttp2) {
      socket.destroy();
    } else if (isHttp2) {
      connection.accepted = true;
      this.#options.accepted(connection);
    } else {
      this.#connections.delete(connection);
      this.#options.acceptedHttp1(socket);
    }
  }
}
