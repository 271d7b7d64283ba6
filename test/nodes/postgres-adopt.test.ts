import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { fillStore, readStore, refresh, type StoredStore } from '../fixtures/stores/fill.ts';
import {
  type Binary,
  binaryPath,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { runBinary } from '../support/run-binary.ts';
import { steadyResponses } from '../support/steady-responses.ts';

/**
 * The store of a single machine is moved to PostgreSQL by a process that is killed repeatedly. Then two nodes continue.
 */

const origin = 'https://shop.example.com';
const often = { interval: 100 };

let database: Postgres;
let url: string;
let data: string;
let stored: Omit<StoredStore, 'answers'>;
let before: Record<string, unknown>;
let instanceId: string;
let packetKey: string;
/** Backup of the directory from before the move. */
let backupFile: string;

const adoptArgs = () => ['postgres', 'adopt', '--data', data, '--postgres', url, '--without-key-file'];

async function send(http: string, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`http://${http}/api/frontend/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

needing('postgresql').describe('flagmeter postgres adopt', () => {
  beforeAll(async () => {
    database = await Postgres.start();
    url = await database.database();
    data = join(freshDirectory(), 'data');
    const credentials = await prepare(data);
    const single = await startBinary({ data });
    stored = await fillStore(single.http, credentials, Date.now());
    const access = await token(single.http, credentials);
    packetKey = (await createKey(single.http, access, stored.application, 'Frontend')).key;
    const minted = await send(single.http, 'identities', { identity: 'bob' }, { authorization: stored.backendKey });
    instanceId = (JSON.parse(minted.text) as { instanceId: string }).instanceId;
    // The ledger shows a refusal after at most a second.
    await vi.waitFor(
      async () => {
        before = await readStore(single.http, stored);
        const [, ledger] = Object.entries(before).find(([path]) => path.includes('/ingest?'))!;
        expect(ledger).toMatchObject({ refused: 1 });
      },
      { ...often, interval: 1000 },
    );
    backupFile = join(freshDirectory(), 'backup');
    expect(await runBinary(['backup', '--data', data, '--to', backupFile])).toMatchObject({ code: 0 });
    await stop(single);
  });

  test('flagmeter postgres adopt refuses to move a directory in use', async () => {
    const running = await startBinary({ data });
    const { code, stderr } = await runBinary(adoptArgs());
    expect(code).toBe(1);
    expect(stderr).toContain(`process ${running.pid} is using it`);
    await stop(running);
  });

  test('flagmeter postgres adopt moves the store despite kills, and all nodes have the same reports', async () => {
    let kills = 0;
    for (let ms = 40; (await killedAfter(ms)) === 'killed'; ms += 10) kills += 1;
    expect(kills).toBeGreaterThan(2);
    expect(await runBinary(adoptArgs())).toMatchObject({ code: 0 });
    const nodes = [await startNode(data, 'one'), await startNode(join(freshDirectory(), 'data'), 'two')];
    for (const { http } of nodes) {
      await vi.waitFor(async () => {
        const after = await readStore(http, stored);
        for (const [path, answer] of Object.entries(before))
          expect(steadyResponses(after[path]), path).toMatchObject(steadyResponses(answer) as object);
      }, often);
    }
    expect(await refresh(nodes[1]!.http, stored)).toBe(200);
    expect(await refresh(nodes[0]!.http, stored)).toBe(400);
    await expectIdIsValid(nodes[1]!, nodes[0]!);
    for (const node of nodes) await stop(node);
  });

  test('a directory that was moved to PostgreSQL no longer starts as a single machine', async () => {
    const { code, stderr } = await runBinary(['serve', '--data', data, ...freePorts]);
    expect(code).toBe(1);
    expect(stderr).toContain('its accounts are a replica of a database');
  });

  test('a backup from before the move to PostgreSQL cannot join, so nothing counts twice', async () => {
    const restored = join(freshDirectory(), 'restored');
    expect(await runBinary(['restore', '--from', backupFile, '--data', restored])).toMatchObject({ code: 0 });
    const ends = [
      await runBinary(['postgres', 'adopt', '--data', restored, '--postgres', url, '--without-key-file']),
      await runBinary(['serve', '--data', restored, '--postgres', url, ...freePorts]),
    ];
    expect(ends.map(({ code }) => code)).toEqual([1, 1]);
    for (const { stderr } of ends) expect(stderr).toContain(restored);
  });
});

/** Runs the move, and kills it after `ms`. */
async function killedAfter(ms: number): Promise<'killed' | 'done'> {
  const child = spawn(binaryPath, adoptArgs(), { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const isLate = await Promise.race([ended.then(() => false), pause(ms, true)]);
  if (isLate) child.kill('SIGKILL');
  const [code, signal] = (await ended) as [number | null, string | null];
  if (signal === 'SIGKILL') return 'killed';
  expect(code).toBe(0);
  return 'done';
}

async function startNode(directory: string, name: string): Promise<Binary> {
  const node = await startBinary({ data: directory, args: ['--postgres', url, '--node-name', name] });
  await vi.waitFor(async () => {
    expect((await fetch(`http://${node.http}/readyz?for=managing`)).status).toBe(200);
  }, often);
  return node;
}

/** Checks that one node accepts an instance id minted before the move, and that the other node sees its exposures. */
async function expectIdIsValid(one: Binary, other: Binary): Promise<void> {
  const packet = { k: packetKey, e: 'Production', f: { welcome: { on: [1] } }, i: instanceId };
  expect(await send(one.http, 'telemetry', packet, { origin })).toMatchObject({ status: 202 });
  const access = await token(other.http, stored.credentials);
  const path = `/api/v2/applications/${stored.application}/identities/bob/exposures?environment=Production`;
  await vi.waitFor(async () => {
    expect(await manage(other.http, access, 'GET', path, 200)).toMatchObject({ exposures: [{ feature: 'welcome' }] });
  }, often);
}
