import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { IpNetworks } from '../../src/runtime/addresses.ts';
import { openGrpc } from '../support/open-grpc.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test.each([
  ['a connection of the address with the most connections', undefined, 1],
  ['the oldest connection if all connections are of a trusted proxy', new IpNetworks(['127.0.0.1']), 0],
])('a new connection over the limit closes %s', async (_, trusted, loser) => {
  const listener = await openGrpc({ maxConnections: 3, ...(trusted && { trusted }) });
  closers.push(() => listener.close(0));
  const sockets: Socket[] = [];
  closers.push(() => sockets.forEach((socket) => void socket.destroy()));
  const connectFrom = async (localAddress: string) => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress }).resume();
    sockets.push(socket);
    await once(socket, 'connect');
  };
  await connectFrom('127.0.0.2');
  for (let at = 0; at < 3; at += 1) await connectFrom('127.0.0.1');
  const first = await Promise.race(sockets.map((socket, at) => once(socket, 'close').then(() => at)));
  expect(first).toBe(loser);
});
