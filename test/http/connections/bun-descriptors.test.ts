import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { Descriptors } from '../../../src/http/connection-limiter.ts';
import { loadDescriptors, loadHttpEngine } from '../../../src/http/engines/runtime.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const onBun = process.versions['bun'] !== undefined;

/** Opens a listener on every address, and connections to it that have sent the given bytes. */
async function open(...sent: [host: string, bytes: string][]) {
  const descriptors = (await loadDescriptors()) as Descriptors;
  const engine = await loadHttpEngine();
  const dispatch = () => ({ status: 204 });
  const listener = await engine.listen({ host: '::', port: 0, dispatch });
  const sockets: Socket[] = [];
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close(0);
  });
  for (const [host, bytes] of sent) {
    sockets.push(
      connect({ port: listener.port, host }, function written(this: Socket) {
        this.write(bytes);
      }),
    );
  }
  const peers = () => descriptors.peersAt(new Set([listener.port])).peers;
  await vi.waitUntil(() => peers().length === sent.length);
  return { descriptors, peers, sockets };
}

test.runIf(onBun)(
  'the list of connections has the address of each connection, and shows if the connection got a response',
  async () => {
    const { peers } = await open(
      ['127.0.0.1', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['::1', 'GET / HTTP/1.1\r\nHost: '],
    );
    await vi.waitUntil(() => peers().some(({ answered }) => answered));
    const shown = peers().map(({ address, answered }) => ({ address, answered }));
    expect(shown).toHaveLength(2);
    expect(shown).toContainEqual({ address: '127.0.0.1', answered: true });
    expect(shown).toContainEqual({ address: '::1', answered: false });
  },
);

test.runIf(onBun)('a connection that is shut down is closed, and other connections stay open', async () => {
  const half = 'GET / HTTP/1.1\r\nHost: ';
  const { descriptors, peers, sockets } = await open(['127.0.0.1', half], ['::1', half]);
  const closed = new Promise((resolve) => sockets[1]!.once('close', resolve));
  sockets[1]!.resume();
  descriptors.shutDown(peers().find(({ address }) => address === '::1')!);
  await closed;
  await vi.waitUntil(() => peers().length === 1);
  expect(peers()[0]!.address).toBe('127.0.0.1');
});

test.runIf(onBun)('shutDown does nothing if the descriptor now belongs to another connection', async () => {
  const half = 'GET / HTTP/1.1\r\nHost: ';
  const { descriptors, peers, sockets } = await open(['127.0.0.1', half]);
  const [peer] = peers();
  descriptors.shutDown({ ...peer!, port: peer!.port - 1 });
  descriptors.shutDown({ ...peer!, address: '127.0.0.2' });
  const closed = new Promise((resolve) => sockets[0]!.once('close', resolve));
  sockets[0]!.write('x\r\nConnection: close\r\n\r\n');
  const response = await new Promise<Buffer>((resolve) => sockets[0]!.once('data', resolve));
  expect(response.toString()).toContain('HTTP/1.1 204');
  await closed;
});

test.runIf(onBun)('the next descriptor is below the limit of open files', async () => {
  const descriptors = (await loadDescriptors())!;
  expect(descriptors.next()).toBeGreaterThan(2);
  expect(descriptors.next()).toBeLessThan(descriptors.limit);
});

test.skipIf(onBun)('loadDescriptors returns undefined on Node', async () => {
  expect(await loadDescriptors()).toBeUndefined();
});
