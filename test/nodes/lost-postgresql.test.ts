import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ServiceStatus } from '../../src/contract/shapes/status.ts';
import { PostgresKey, storedSecret } from '../../src/replication/postgres/postgres-key.ts';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';

/** Three nodes whose PostgreSQL is lost and restored from their replicas. */

const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];
const origin = 'https://shop.example';
const often = { interval: 100 };

let database: Postgres;
let postgresUrl: string;
let keyFile: string;
let credentials: Credentials;
let nodes: Binary[] = [];
let bearer: string;
let application: string;
let key: string;
let counted = 0;

interface ShownReport {
  readonly completeThrough: string;
  readonly mayBeCounting?: readonly string[];
  readonly features: readonly { readonly checks: number }[];
}

needing('postgresql').describe('nodes whose PostgreSQL is lost', () => {
  beforeAll(async () => {
    database = await Postgres.start();
    postgresUrl = await database.database();
    keyFile = await newKeyFile();
    credentials = await preparePostgres(postgresUrl, ['--postgres-key-file', keyFile]);
    for (const name of ['one', 'two', 'three']) nodes.push(await startNode(join(freshDirectory(), name), name));
    bearer = await token(nodes[0]!.http, credentials);
    application = await createApplication(nodes[0]!.http, bearer, { name: 'Shop' });
    key = (await createKey(nodes[0]!.http, bearer, application, 'Frontend')).key;
    for (const node of nodes) await vi.waitFor(async () => expect(await send(node)).toBe(202), often);
    await expectAll();
  });

  afterAll(async () => {
    for (const node of nodes) await stop(node);
  });

  test('reports list a stopped node as possibly counting, because the node might run without PostgreSQL', async () => {
    const { data } = nodes[2]!;
    expect((await readReport(nodes[0]!)).mayBeCounting).toBeUndefined();
    await stop(nodes[2]!);
    const away = new URL(postgresUrl);
    away.port = '1';
    const cutOff = await startNode(data, 'three', away.href);
    const before = Date.now();
    expect(await send(cutOff)).toBe(202);
    await vi.waitFor(async () => {
      const { completeThrough, mayBeCounting, features } = await readReport(nodes[0]!);
      expect(Date.parse(completeThrough)).toBeGreaterThan(before);
      expect(features[0]!.checks).toBe(counted - 1);
      expect(mayBeCounting).toEqual(['three']);
    }, often);
    const response = await get(nodes[1]!, `${usagePath()}&format=csv`);
    expect(response.headers.get('flagmeter-may-be-counting')).toBe('three');
    const forgotten = await runBinary(['postgres', 'forget-node', 'three', '--postgres', postgresUrl, '--yes']);
    expect(forgotten, forgotten.stderr).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect((await readReport(nodes[0]!)).mayBeCounting).toBeUndefined(), often);
    await stop(cutOff);
    nodes[2] = await startNode(data, 'three');
    await expectAll();
    for (const node of nodes) expect((await readReport(node)).mayBeCounting).toBeUndefined();
  });

  test('all nodes continue with an empty database after one node has filled the database', async () => {
    await lose();
    for (const node of nodes) expect(await send(node)).toBe(202);
    const { data } = nodes[0]!;
    const running = await adopt(data);
    expect(running.code).toBe(1);
    expect(running.stderr).toContain('stop that node first');
    const listed = await adopt(data, '--dry-run', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'replica' }]);
    await stop(nodes[0]!);
    const without = await runBinary(adoptArgs(data, []));
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('are encrypted: name the key file') });
    const wrong = await runBinary(adoptArgs(data, ['--postgres-key-file', await newKeyFile()]));
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('is not the key file') });
    expect(await database.query("SELECT to_regclass('fm_engine') AS found", [], postgresUrl)).toEqual([
      { found: null },
    ]);
    let kills = 0;
    for (let ms = 20; (await runBinary(adoptArgs(data), {}, ms)).signal === 'SIGKILL'; ms += 10) kills += 1;
    expect(kills).toBeGreaterThan(1);
    const adopted = await adopt(data);
    expect(adopted, adopted.stderr).toMatchObject({ code: 0 });
    expect(adopted.stderr).toMatch(
      /^replica: usage at position \d+, complete through (20.*|an unknown time); accounts at version \d+$/m,
    );
    // A node that is restarted during the adoption counts, although the database is not complete.
    await database.query("UPDATE fm_engine SET id = id || ', which is being filled'", [], postgresUrl);
    await stop(nodes[2]!);
    nodes[2] = await startNode(nodes[2]!.data, 'three');
    expect(await send(nodes[2]!)).toBe(202);
    await database.query("UPDATE fm_engine SET id = replace(id, ', which is being filled', '')", [], postgresUrl);
    nodes[0] = await startNode(data, 'one');
    for (const node of nodes) expect(await send(node)).toBe(202);
    await expectAll();
    for (const node of nodes) expect((await get(node, '/api/v2/applications')).status).toBe(200);
    bearer = await token(nodes[1]!.http, credentials);
    await expectAll();
  });

  test('nodes set aside data that an older database lacks, and the data can be restored', async () => {
    const goBack = await copy();
    await vi.waitFor(async () => expect((await get(nodes[0]!, '/api/v2/applications')).status).toBe(200), often);
    const later = await createKey(nodes[0]!.http, bearer, application, 'Frontend');
    for (const node of nodes) await vi.waitFor(async () => expect(await send(node, later.key)).toBe(202), often);
    await expectAll();
    await goBack();
    for (const node of nodes)
      await vi.waitFor(async () => {
        const metrics = await (await fetch(`http://${node.http}/metrics`)).text();
        expect(metrics).toMatch(/^flagmeter_set_aside_bytes [1-9]/m);
        expect((await fetch(`http://${node.http}/readyz?for=managing`)).status).toBe(200);
      }, often);
    bearer = await token(nodes[1]!.http, credentials);
    await expectAll(); // Deltas of the last hour are shipped again.
    expect(await send(nodes[1]!, later.key)).toBe(404);
    const { cluster } = (await (await get(nodes[1]!, '/api/v2/status')).json()) as ServiceStatus;
    expect(cluster!.setAsideBytes).toBeGreaterThan(0);
    const directories = nodes.map(({ data }) => data);
    for (const node of nodes) await stop(node);
    const listed = await adopt(directories[1]!, '--dry-run', '--json');
    const held = JSON.parse(listed.stdout) as { readonly name: string }[];
    const [kept] = held.filter(({ name }) => name !== 'replica');
    await lose();
    const adopted = await adopt(directories[1]!, '--set-aside', kept!.name);
    expect(adopted, adopted.stderr).toMatchObject({ code: 0 });
    expect(adopted.stdout).toContain(`remove ${join(directories[1]!, 'set-aside', kept!.name)}`);
    nodes = [];
    for (const data of directories) nodes.push(await startNode(data, data.split('/').at(-1)!));
    bearer = await token(nodes[0]!.http, credentials);
    await vi.waitFor(async () => expect(await send(nodes[0]!, later.key)).toBe(202), often);
    await expectAll();
  });

  test('nodes refuse a database with a foreign secret, and continue once the right secret is restored', async () => {
    const [own] = await database.query<{ secret: string }>('SELECT secret FROM fm_engine', [], postgresUrl);
    await replaceSecret(storedSecret(randomBytes(32), new PostgresKey(randomBytes(32))));
    for (const node of nodes)
      await vi.waitFor(async () => expect(await readState(node)).toEqual({ managing: 503, connected: '0' }), often);
    for (const node of nodes) expect(await send(node)).toBe(202);
    await replaceSecret(own!.secret);
    for (const node of nodes)
      await vi.waitFor(async () => expect(await readState(node)).toEqual({ managing: 200, connected: '1' }), often);
    await expectAll();
  });
});

/** Replaces the secret of digests, as if another database was restored, and ends all sessions. */
async function replaceSecret(secret: string): Promise<void> {
  await database.query('UPDATE fm_engine SET secret = $1', [secret], postgresUrl);
  const end =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE 'flagmeter %'";
  await database.query(end, [readDatabaseName()]);
}

async function readState({ http }: Binary): Promise<{ managing: number; connected: string | undefined }> {
  const { status: managing } = await fetch(`http://${http}/readyz?for=managing`);
  const metrics = await (await fetch(`http://${http}/metrics`)).text();
  return { managing, connected: /^flagmeter_engine_connected (.*)$/m.exec(metrics)?.[1] };
}

function startNode(data: string, name: string, url = postgresUrl): Promise<Binary> {
  return startBinary({ data, args: ['--postgres', url, '--postgres-key-file', keyFile, '--node-name', name, ...urls] });
}

function adopt(data: string, ...options: string[]) {
  return runBinary([...adoptArgs(data), ...options]);
}

const adoptArgs = (data: string, key: readonly string[] = ['--postgres-key-file', keyFile]) => [
  ...['postgres', 'adopt', '--from-replica', '--data', data, '--postgres', postgresUrl, ...key],
];

async function newKeyFile(): Promise<string> {
  const file = join(freshDirectory(), 'engine-key');
  expect(await runBinary(['postgres', 'key', '--out', file])).toMatchObject({ code: 0 });
  return file;
}

const readDatabaseName = () => new URL(postgresUrl).pathname.slice(1);

async function lose(): Promise<void> {
  await database.query(`DROP DATABASE ${readDatabaseName()} WITH (FORCE)`);
  await database.query(`CREATE DATABASE ${readDatabaseName()} TEMPLATE template0`);
}

/** Copies the database. @returns a function that restores the copy */
async function copy(): Promise<() => Promise<void>> {
  const name = readDatabaseName();
  const cut = async () => {
    await database.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await database.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  };
  await cut();
  await database.query(`CREATE DATABASE ${name}_old TEMPLATE ${name}`);
  await database.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  return async () => {
    await cut();
    await database.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await database.query(`ALTER DATABASE ${name}_old RENAME TO ${name}`);
  };
}

async function send({ http }: Binary, k = key): Promise<number> {
  const response = await fetch(`http://${http}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ k, e: 'Production', f: { checkout: { on: [1] } } }),
  });
  if (response.status === 202) counted += 1;
  return response.status;
}

function get({ http }: Binary, path: string): Promise<Response> {
  return fetch(`http://${http}${path}`, { headers: { authorization: `Bearer ${bearer}` } });
}

const usagePath = () => `/api/v2/applications/${application}/usage?environment=Production`;

async function readReport(node: Binary): Promise<ShownReport> {
  const response = await get(node, usagePath());
  expect(response.status).toBe(200);
  return (await response.json()) as ShownReport;
}

/** Checks that each node reports every accepted packet exactly once. */
async function expectAll(): Promise<void> {
  for (const node of nodes)
    await vi.waitFor(async () => expect((await readReport(node)).features[0]?.checks).toBe(counted), often);
}
