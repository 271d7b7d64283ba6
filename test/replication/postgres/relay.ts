import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Postgres } from '../../support/postgres.ts';

/** What a relay does with bytes of one side; `pass` gives them to the other. */
export type Passing = (data: Buffer, pass: () => void, cut: () => void) => void;

/**
 * Stands between clients and a server until the test is over.
 * @returns the URL by which the server's is reached through it
 */
export async function relayTo(
  postgres: Postgres,
  url: string,
  { fromClient, fromServer }: { readonly fromClient: Passing; readonly fromServer: Passing },
): Promise<string> {
  const server = createServer((client) => {
    const upstream = dial(postgres.port, postgres.host);
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    const join = (from: Socket, to: Socket, passing: Passing) => {
      from.on('data', (data) => passing(data, () => void to.write(data), cut));
      from.on('error', cut);
      from.on('close', cut);
    };
    join(client, upstream, fromClient);
    join(upstream, client, fromServer);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return url.replace(`:${postgres.port}`, `:${(server.address() as AddressInfo).port}`);
}
