import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Postgres } from '../../support/postgres.ts';

/** Handles bytes from one side; `pass` forwards them to the other side. */
export type RelayHandler = (data: Buffer, pass: () => void, cut: () => void) => void;

/** The handlers of a connection through a relay. */
export interface Sides {
  readonly fromClient: RelayHandler;
  readonly fromServer: RelayHandler;
}

/**
 * Starts a proxy between clients and a server. The proxy runs until the test is over.
 * @returns the URL of the relay
 */
export async function relayTo(postgres: Postgres, url: string, openSides: () => Sides): Promise<string> {
  const server = createServer((client) => {
    const upstream = dial(postgres.port, postgres.host);
    const { fromClient, fromServer } = openSides();
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    const join = (from: Socket, to: Socket, passing: RelayHandler) => {
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

/** A proxy that can lose a server's responses to COMMIT. */
export interface CuttingRelay {
  readonly url: string;
  /** Loses the response to the next COMMIT, which the server still receives. */
  loseNextCommit(): void;
  readonly lost: number;
}

/** @param isIt text that the client sends along with the COMMIT whose response is lost */
export async function cuttingRelay(postgres: Postgres, url: string, isIt = ''): Promise<CuttingRelay> {
  let isArmed = false;
  let lost = 0;
  const through = await relayTo(postgres, url, () => {
    let isCut = false;
    return {
      fromClient(data, pass) {
        if (isArmed && data.includes('COMMIT') && data.includes(isIt)) [isArmed, isCut] = [false, true];
        pass();
      },
      fromServer(data, pass, cut) {
        if (!isCut) return pass();
        // The responses to earlier statements arrive before the response to COMMIT, or with it.
        if (!data.includes('COMMIT\0')) return;
        lost += 1;
        cut();
      },
    };
  });
  return {
    url: through,
    loseNextCommit() {
      isArmed = true;
    },
    get lost() {
      return lost;
    },
  };
}
