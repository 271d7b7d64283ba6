import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, vi } from 'vitest';
import { buildClock, SkewedClock } from '../../chaos/scene/skewed-clock.ts';
import {
  type Binary,
  binaryPath,
  type Credentials,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { canMount } from '../support/mount.ts';
import { needing } from '../support/needing.ts';
import { openSender } from '../support/packet-sender.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';
import { openShop, readChecks, type Shop, sendCheck } from '../support/shop.ts';
import { sendUntilFull, startOnSmallDisk } from '../support/small-disk.ts';

/** Nodes with a wrong clock, an unreachable PostgreSQL or a full disk. */

const often = { interval: 100 };

let database: Postgres;
let postgresUrl: string;
let credentials: Credentials;

const { describe, test } = needing('postgresql');

beforeAll(async () => {
  database = await Postgres.start();
  postgresUrl = await database.database();
  credentials = await preparePostgres(postgresUrl);
});

function startNode(...args: string[]): Promise<Binary> {
  return startBinary({ args: ['--postgres', postgresUrl, ...args] });
}

/** Resolves when the reports have exactly the accepted checks. */
async function expectChecks(http: string, shop: Shop, wanted: ReadonlyMap<string, number>): Promise<void> {
  await vi.waitFor(async () => expect(await readChecks(http, shop)).toEqual(wanted), {
    interval: 1000, // The report may be large.
  });
}

const refused = [503, undefined];

needing('faketime', 'postgresql').describe('a node whose clock is wrong', () => {
  const serveAt = (shift: string, data: string) =>
    runProgram(
      'faketime',
      ['-f', shift, binaryPath, 'serve', '--data', data, '--postgres', postgresUrl, ...freePorts],
      { FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    );

  test.each([
    ['+8s', 'ahead of'],
    ['-8s', 'behind'],
  ])(
    'a node whose clock is off by %s refuses to start, and writes nothing on disk or to PostgreSQL',
    async (shift, way) => {
      const data = join(freshDirectory(), 'data');
      const { code, stdout, stderr } = await serveAt(shift, data);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`clock of this machine is [78]\\.\\d s ${way} PostgreSQL's; the limit is 5 s`));
      expect(existsSync(data) ? readdirSync(data) : []).toEqual([]);
      expect(await database.query('SELECT 1 FROM fm_node UNION ALL SELECT 1 FROM fm_stream', [], postgresUrl)).toEqual(
        [],
      );
    },
  );
});

test.each([3_700_000, -7_200_000])(
  "a node whose clock jumps by %i ms refuses management requests, and counts by PostgreSQL's time",
  async (aheadMs) => {
    const folder = freshDirectory();
    const clock = new SkewedClock(await buildClock(folder), join(folder, 'clock'));
    const [jumping, other] = await Promise.all([
      startBinary({ args: ['--postgres', postgresUrl], env: clock.env }),
      startNode(),
    ]);
    const shop = await openShop(other.http, credentials);
    await vi.waitFor(async () => expect(await sendCheck(jumping.http, shop.key, 'before')).toBe(202), often);
    const managing = async () => (await fetch(`http://${jumping.http}/readyz?for=managing`)).status;
    clock.aheadMs = aheadMs;
    await vi.waitFor(async () => expect(await managing()).toBe(503), often);
    const login = { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) };
    expect((await fetch(`http://${jumping.http}/connect/token`, login)).status).toBe(503);
    expect(await sendCheck(jumping.http, shop.key, 'meanwhile')).toBe(202);
    expect(jumping.stderr()).toMatch(/clock of this machine is \d+\.\d s (ahead of|behind) PostgreSQL's/);
    const wanted = ['before', 'meanwhile'].map((feature) => [feature, 1] as const);
    await expectChecks(other.http, shop, new Map(wanted));
    clock.aheadMs = 0;
    await vi.waitFor(async () => expect(await managing()).toBe(200), often);
    for (const node of [jumping, other]) expect(await stop(node)).toMatchObject({ code: 0 });
  },
);

test('a running node that was forgotten responds to packets with 503 until it restarts', async () => {
  const node = await startNode('--node-name', 'forgotten');
  const shop = await openShop(node.http, credentials);
  expect(await sendCheck(node.http, shop.key, 'before')).toBe(202);
  await expectChecks(node.http, shop, new Map([['before', 1]]));
  const forget = ['postgres', 'forget-node', 'forgotten', '--postgres', postgresUrl, '--yes'];
  expect(await runBinary(forget)).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
  expect(await runBinary([...forget, '--force'])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await sendCheck(node.http, shop.key, 'refused')).toBe(503), often);
  const ready = await fetch(`http://${node.http}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('restart the node')]);
  const { stdout } = await runBinary(['postgres', 'status', '--postgres', postgresUrl]);
  expect(stdout).toContain(
    'Node forgotten was forgotten but is running: it responds to packets with 503 until it is restarted',
  );
  await stop(node);
  const again = await startNode('--data', node.data);
  expect(await sendCheck(again.http, shop.key, 'after')).toBe(202);
  await vi.waitFor(async () => {
    const counted = await readChecks(again.http, shop);
    expect([counted.get('before'), counted.get('after')]).toEqual([1, 1]);
  }, often);
  expect(await stop(again)).toMatchObject({ code: 0 });
});

describe('SIGTERM during the wait of a new node for PostgreSQL', () => {
  /** Checks that the process exits immediately with 0, having written nothing. */
  async function expectEnd(url: string, isWaiting: (stderr: NodeJS.ReadableStream) => Promise<unknown>) {
    const data = join(freshDirectory(), 'data');
    const child = spawn(binaryPath, ['serve', '--data', data, '--postgres', url, ...freePorts]);
    const closed = once(child, 'close');
    await isWaiting(child.stderr);
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    expect(existsSync(data)).toBe(false);
  }

  test('SIGTERM ends a process that waits for a PostgreSQL that refuses connections', async () => {
    await expectEnd('postgres://postgres@127.0.0.1:1/none?sslmode=disable', async (stderr) => {
      let said = '';
      for await (const text of stderr) {
        said += text;
        if (/starts when PostgreSQL is available/.test(said)) return;
      }
    });
  });

  // The process must end before the connection timeout of 60 seconds.
  test('SIGTERM ends a process that waits for a PostgreSQL that does not respond', { timeout: 50_000 }, async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `postgres://postgres@127.0.0.1:${port}/none?sslmode=disable&connect_timeout=60`;
    await expectEnd(url, () => once(silent, 'connection'));
    silent.close();
  });
});

test('a node responds to mint requests with 503 and Retry-After until PostgreSQL is back', async () => {
  const node = await startNode();
  const { application } = await openShop(node.http, credentials);
  const access = await token(node.http, credentials);
  const { key } = await createKey(node.http, access, application, 'Backend');
  const mint = () =>
    fetch(`http://${node.http}/api/frontend/identities`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: key },
      body: '{"identity":"ann"}',
    });
  expect((await mint()).status).toBe(200);
  await database.stop();
  const response = await mint();
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
  expect(await response.json()).toMatchObject({ code: 'postgres_unavailable' });
  await database.start();
  await vi.waitFor(async () => expect((await mint()).status).toBe(200), often);
  expect(await stop(node)).toMatchObject({ code: 0 });
});

test('a node with a full spool refuses packets until PostgreSQL accepts data, and loses nothing', async () => {
  const node = await startNode('--spool-max', '1MiB');
  const shop = await openShop(node.http, credentials);
  const sender = openSender(node.http);
  const features = Array.from({ length: 2000 }, (_, at) => `feature-${at}`);
  let accepted = 0;
  const send = async () => {
    const f = Object.fromEntries(features.map((feature) => [feature, { [accepted]: [1] }]));
    const status = await sender.send({ k: shop.key, e: 'Production', f });
    if (status === 202) accepted += 1;
    return status;
  };
  await database.stop();
  while ((await send()) === 202);
  const response = await fetch(`http://${node.http}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://app.example.com' },
    body: JSON.stringify({ k: shop.key, e: 'Production' }),
  });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await response.json()).toMatchObject({ code: 'spool_full' });
  expect((await fetch(`http://${node.http}/readyz`)).status).toBe(503);
  await database.start();
  await vi.waitFor(async () => expect(await send()).toBe(202), often);
  sender.close();
  await expectChecks(node.http, shop, new Map(features.map((feature) => [feature, accepted])));
  expect(await stop(node)).toMatchObject({ code: 0 });
});

test('a node ships the deltas of the last hour again after a restore, even if they exceed its maximum spool size', async () => {
  const url = await database.database();
  const apiKey = await preparePostgres(url);
  const node = await startBinary({ args: ['--postgres', url, '--spool-max', '1MiB'] });
  const shop = await openShop(node.http, apiKey);
  const restore = await database.copyDatabase(url);
  const sender = openSender(node.http);
  const features = Array.from({ length: 800 }, (_, at) => `feature-${at}`);
  const rounds = 40;
  for (let round = 0; round < rounds; round += 1) {
    const variant = () => randomBytes(30).toString('base64url'); // Random values cannot be compressed.
    const f = Object.fromEntries(features.map((feature) => [feature, { [variant()]: [1] }]));
    const packet = { k: shop.key, e: 'Production', f };
    await vi.waitFor(async () => expect(await sender.send(packet)).toBe(202), often);
  }
  const counted = new Map(features.map((feature) => [feature, rounds]));
  await expectChecks(node.http, shop, counted);
  const shippedBytes = async () => {
    const text = 'SELECT coalesce(sum(octet_length(body)), 0)::float8 AS bytes FROM fm_entry';
    return (await database.query<{ bytes: number }>(text, [], url))[0]!.bytes;
  };
  expect(await shippedBytes()).toBeGreaterThan(0.75 * 2 ** 20);
  sender.close();
  await restore();
  expect(await shippedBytes()).toBeLessThan(2 ** 19);
  await expectChecks(node.http, shop, counted);
  expect(await stop(node)).toMatchObject({ code: 0 });
});

const withDisk = needing('postgresql').test;
(canMount() ? withDisk : withDisk.skip)(
  'a node with a full disk responds with 503, recovers when there is space, and loses nothing',
  async () => {
    const node = await startOnSmallDisk(['--postgres', postgresUrl]);
    const shop = await openShop(node.http, credentials);
    expect(await sendCheck(node.http, shop.key, 'before')).toBe(202);
    node.fill();
    const accepted = await sendUntilFull(node.http, shop.key);
    expect((await fetch(`http://${node.http}/readyz`)).status).toBe(503);
    expect(refused).toContain(await sendCheck(node.http, shop.key, 'refused'));
    await vi.waitFor(async () => {
      const { stdout } = await runBinary(['postgres', 'status', '--postgres', postgresUrl]);
      expect(stdout).toMatch(/ up, store fails /);
    }, often);
    node.free();
    await vi.waitFor(async () => expect(await sendCheck(node.http, shop.key, 'after')).toBe(202), often);
    const filling = Array.from({ length: accepted }, (_, at) => `filling-${at}`);
    const wanted = ['before', ...filling, 'after'].map((feature) => [feature, 1] as const);
    await expectChecks(node.http, shop, new Map(wanted));
    expect(node.stderr()).toContain('the disk is full');
    expect(await stop(node)).toMatchObject({ code: 0 });
  },
);
