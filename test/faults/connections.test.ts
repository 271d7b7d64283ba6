import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RawClient } from '../http/support/raw-client.ts';
import { binaryPath, freshDirectory, type StartedProcess, startProcess, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { frontThreads } from '../support/front-threads.ts';

const enders: (() => void)[] = [];
afterEach(() => {
  for (const end of enders.splice(0)) end();
});

/** Starts the executable with a limit on open files. */
function serve(limit: number, ...args: string[]): Promise<StartedProcess> {
  const data = `${freshDirectory()}/data`;
  const free = [...freePorts, '--ops-listen', '127.0.0.1:0'];
  const open = ['--nofile', `${limit}:${limit}`].join('=');
  return startProcess('prlimit', [open, binaryPath, 'serve', '--data', data, ...free, ...args]);
}

const readPort = ({ line }: StartedProcess, name: string) =>
  Number(new RegExp(`\\b${name}=\\S+:(\\d+)`).exec(line)![1]);

const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

async function isServed(client: RawClient): Promise<boolean> {
  client.write(health);
  return (await client.read()).status === 200;
}

/** Opens many connections from 127.0.0.1, each of which sends only the beginning of a request. */
function openFlood(port: number, part: Buffer) {
  const open = new Set<Socket>();
  let wanted = Number.POSITIVE_INFINITY;
  let settle = () => {};
  enders.push(() => {
    for (const socket of open) socket.destroy();
  });
  const add = () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' }, () => socket.write(part));
    open.add(socket);
    socket.resume();
    socket.on('error', () => {}); // A 'close' event follows each error.
    socket.on('close', () => {
      open.delete(socket);
      if (open.size <= wanted) settle();
    });
  };
  return {
    fill(count: number): void {
      while (open.size < count) add();
    },
    /** Resolves when at most `count` of the connections are still open. */
    atMost(count: number): Promise<void> {
      wanted = count;
      return new Promise((resolve) => {
        settle = resolve;
        if (open.size <= count) resolve();
      });
    },
  };
}

/**
 * Maximum number of open files of the service. The connection limit of one address is a quarter of it. The flooding
 * address tries to exceed both limits.
 */
const files = 400;
const perAddress = files / 4;
const flooded = files + perAddress;

const tls = ['cert', 'key'].flatMap((name) => [
  `--tls-${name}`,
  fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url)),
]);

/** The beginning of a TLS ClientHello of 512 bytes. */
const halfHandshake = Buffer.from('1603010200010001fc0303', 'hex');

const halfHead = Buffer.from('POST /api/frontend/telemetry HTTP/1.1\r\nHost: x\r\nX-A: ');

const floods: readonly (readonly [what: string, listener: 'http' | 'grpc', part: Buffer])[] = [
  ['half a head', 'http', halfHead],
  [
    'half a body',
    'http',
    Buffer.from('POST /api/frontend/telemetry HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'),
  ],
  ['a request, and then nothing', 'http', Buffer.from(health)],
  ['nothing', 'http', Buffer.alloc(0)],
  ['half a head to one port', 'grpc', halfHead],
  ['a request to one port, and then nothing', 'grpc', Buffer.from(health)],
  ['half a preface of HTTP/2', 'grpc', Buffer.from('PR')],
];

async function floodTwice(service: StartedProcess, listener: 'http' | 'grpc', part: Buffer): Promise<void> {
  const flood = openFlood(readPort(service, listener), part);
  for (let round = 0; round < 2; round += 1) {
    flood.fill(flooded);
    await flood.atMost(perAddress);
    const other = await RawClient.open(readPort(service, 'ops'), '127.0.0.2');
    expect(await isServed(other)).toBe(true);
    other.close();
  }
  expect(service.stderr()).toContain('closed surplus connections');
}

/** The service of the tests without TLS. */
let service: StartedProcess;

beforeAll(async () => {
  service = await serve(files);
});

afterAll(async () => {
  await stop(service);
});

const title = 'an address that sends %s on more connections than the open-file limit does not lock out others';

test.each(floods)(title, (_, listener, part) => floodTwice(service, listener, part));

test.each([['half a handshake of TLS', halfHandshake]])(title, async (_, part) => {
  const secured = await serve(files, ...tls);
  await floodTwice(secured, 'http', part);
  await stop(secured);
});

test('a flood of half-sent requests does not close an active connection of the same address', async () => {
  const used = await RawClient.open(readPort(service, 'http'));
  enders.push(() => used.close());
  expect(await isServed(used)).toBe(true);
  const flood = openFlood(readPort(service, 'http'), halfHead);
  for (let round = 0; round < 2; round += 1) {
    let isOver = false;
    flood.fill(flooded);
    const closed = flood.atMost(perAddress).then(() => {
      isOver = true;
    });
    while (!isOver) expect(await isServed(used)).toBe(true);
    await closed;
  }
});

test('--max-connections-per-address limits an address over all threads, but not a trusted proxy', async () => {
  const limits = ['--max-connections-per-address', '5', '--trusted-proxies', '127.0.0.2'];
  const service = await serve(files, ...frontThreads(2), ...limits);
  const port = readPort(service, 'metrics');
  const open = (from: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => RawClient.open(port, from)));
  const proxy = await open('127.0.0.2', 30);
  const client = await open('127.0.0.3', 30);
  enders.push(() => [...proxy, ...client].forEach((each) => void each.close()));
  const left = new Set(client);
  await new Promise<void>((resolve) => {
    for (const each of client)
      void each.ended.then(() => {
        left.delete(each);
        if (left.size === 5) resolve();
      });
  });
  for (const each of proxy) expect(await isServed(each)).toBe(true);
  for (const each of left) expect(await isServed(each)).toBe(true);
  await stop(service);
});

test('--max-connections-per-address 0 allows any number of connections per address', async () => {
  const service = await serve(files, '--max-connections-per-address', '0');
  const clients = await Promise.all(Array.from({ length: 200 }, () => RawClient.open(readPort(service, 'http'))));
  enders.push(() => clients.forEach((each) => void each.close()));
  for (let round = 0; round < 3; round += 1) expect(await Promise.all(clients.map(isServed))).not.toContain(false);
  await stop(service);
});
