import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

/** A proxy to a local port that adds latency. */
export interface SlowLink {
  readonly port: number;
  close(): void;
}

/** Opens a proxy. @param delayMs latency of each direction */
export async function slowLink(to: number, delayMs: number): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = createConnection({ host: '127.0.0.1', port: to, noDelay: true });
    for (const [from, onto] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => setTimeout(() => onto.writable && onto.write(bytes), delayMs));
      from.on('close', () => {
        sockets.delete(from);
        setTimeout(() => onto.destroy(), delayMs);
      });
      from.on('error', () => {});
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
