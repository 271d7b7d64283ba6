import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Postgres } from '../../support/postgres.ts';

/** A TCP proxy in front of a server, which can lose an answer. */
export interface CuttingProxy {
  /** The URL of a database, through the proxy. */
  url(of: string): string;
  /** Loses the answer to the next COMMIT that follows a write of accounts: the server gets it, the node does not hear of it. */
  loseNextCommit(): void;
  /** How many answers were lost. */
  readonly lost: number;
}

export async function cuttingProxy({ host, port }: Pick<Postgres, 'host' | 'port'>): Promise<CuttingProxy> {
  let armed = false;
  let lost = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    let isCut = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('data', (data) => {
      if (armed && data.includes('COMMIT') && data.includes('fm_control_write')) {
        armed = false;
        isCut = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!isCut) return void client.write(data);
      // The answers to the statements before come along with that of COMMIT, or before it.
      if (!data.includes('COMMIT\0')) return;
      lost += 1;
      client.destroy();
      upstream.destroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port: own } = server.address() as { port: number };
  return {
    url: (of) => of.replace(`${host}:${port}`, `127.0.0.1:${own}`),
    loseNextCommit() {
      armed = true;
    },
    get lost() {
      return lost;
    },
  };
}
