import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to the engine on which answers to COMMIT can be lost: it reaches the engine, and the connection is cut at once. */
export class CuttingProxy {
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #cuts = 0;
  /** Commits that are still to be cut. */
  left = 0;

  /** @param target where the engine listens */
  constructor(target: { readonly host: string; readonly port: number }) {
    this.#server = createServer((client) => {
      const engine = connect(target.port, target.host);
      for (const socket of [client, engine]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          // What the engine was sent, it does.
          setImmediate(() => engine.end());
        });
      }
      engine.on('data', (data) => client.write(data));
      client.on('data', (data) => {
        engine.write(data);
        if (this.left === 0 || !data.includes('COMMIT')) return;
        this.left -= 1;
        this.#cuts += 1;
        client.destroy();
      });
    });
  }

  /** How many were cut. */
  get cuts(): number {
    return this.#cuts;
  }

  /** @returns the URL that leads through it */
  async listen(url: string): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    return url.replace(/@[^/]+/, `@127.0.0.1:${port}`);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
