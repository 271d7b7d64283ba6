import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { fillStore, readStore, refresh, type StoredStore } from '../fixtures/stores/fill.ts';
import { metrics, point, sum } from '../ingest/otlp/messages.ts';
import { send } from '../ingest/otlp/send.ts';
import {
  binaryPath,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  type StartedProcess,
  startProcess,
  stop,
  token,
} from '../support/binary.ts';
import { startBalancer } from '../support/load-balancer.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { freePort } from '../support/postgres-program.ts';
import type { RunningProxy } from '../support/proxy-program.ts';
import { binaryBefore, whyNoReleaseBefore } from '../support/release-before.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';
import { readChecks, sendCheck } from '../support/shop.ts';
import { type SteadyClients, startClients } from '../support/steady-clients.ts';
import { steadyResponses } from '../support/steady-responses.ts';

/** The previous release and this version run side by side on one PostgreSQL, behind the load balancer of the docs. */

interface Node {
  readonly name: string;
  readonly data: string;
  readonly http: string;
  readonly grpc: string;
  binary: string;
  process: StartedProcess;
}

type Place = Omit<Node, 'process' | 'binary'>;

const often = { interval: 100 };

let before: string;
let database: Postgres;
let engine: string;
let credentials: Credentials;
let balancer: RunningProxy;
/** The admin socket of HAProxy. */
let admin: string;
let urls: readonly string[];
const nodes: Node[] = [];
let stored: Omit<StoredStore, 'answers'>;
let application: string;
let clients: SteadyClients;
let keys: { readonly frontendKey: string; readonly backendKey: string };
let webhook: string;
/** The reports before the upgrade. */
let said: object;

const { describe, test } = needing('postgresql', 'haproxy', 'git', 'g++', 'patch', { why: whyNoReleaseBefore });

describe('nodes of two releases on one PostgreSQL', () => {
  beforeAll(async () => {
    [before, database] = await Promise.all([binaryBefore(), Postgres.start()]);
    engine = await database.database();
    const init = ['engine', 'init', '--engine', engine, '--admin-email', 'ada@example.com', '--json'];
    credentials = JSON.parse((await runProgram(before, init)).stdout) as Credentials;
    const addresses = await Promise.all(['one', 'two', 'three'].map(freeAddresses));
    const folder = freshDirectory();
    balancer = await startBalancer('haproxy', folder, addresses);
    admin = join(folder, 'haproxy/admin.sock');
    const url = `https://localhost:${balancer.port}`;
    urls = ['--auth-url', url, '--base-url', url, '--metrics-url', url];
    for (const each of addresses) nodes.push({ ...each, binary: before, process: await startNode(before, each) });
    stored = await fillStore(nodes[0]!.http, credentials, Date.now());
    clients = await beginTraffic();
  });

  afterAll(async () => {
    await clients?.stop();
    await Promise.all(nodes.map(stopAtOnce));
    await balancer?.stop();
  });

  test('the tables are migrated while nodes of the previous release run', async () => {
    await clients.rounds(3);
    said = await readReports(nodes[0]!);
    const { code, stdout } = await runBinary(['engine', 'migrate', '--engine', engine]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^PostgreSQL (had|already has) layout/)]);
    await clients.rounds(3);
  });

  test('nodes of two releases serve requests next to each other', async () => {
    await replace(nodes[0]!, binaryPath);
    const access = await token(nodes[0]!.http, credentials);
    const path = `/api/v2/teams/${credentials.teamId}/webhooks`;
    const wanted = { name: 'Chat', url: 'https://chat.example/', events: ['member.changed'] };
    const made = (await manage(nodes[0]!.http, access, 'POST', path, 201, wanted)) as { id: string };
    webhook = `${path}/${made.id}`;
    await clients.rounds(6);
    for (const { http } of nodes.slice(1)) await manage(http, access, 'GET', webhook, 404);
  });

  test('all nodes can read data that the first upgraded node has written, once all nodes are upgraded', async () => {
    for (const node of nodes.slice(1)) await replace(node, binaryPath);
    const access = await token(nodes[0]!.http, credentials);
    for (const { http } of nodes)
      expect(await manage(http, access, 'GET', webhook, 200)).toMatchObject({ name: 'Chat' });
    await clients.rounds(3);
  });

  test('a node starts again after a downgrade and after another upgrade', async () => {
    const [, , third] = nodes as [Node, Node, Node];
    await replace(third, before);
    await clients.rounds(6);
    await replace(third, binaryPath);
    const access = await token(third.http, credentials);
    await manage(third.http, access, 'GET', webhook, 200);
    await clients.rounds(3);
  });

  test('nodes of two releases give no client an error, and count every accepted packet once', async () => {
    await clients.stop();
    const { told } = clients;
    expect(told.failures).toEqual([]);
    for (const { http } of nodes) {
      const shop = { credentials, application };
      await vi.waitFor(async () => expect(await readChecks(http, shop)).toEqual(told.checks), often);
      const hasStatus = (status: number) => (access: string) => manage(http, access, 'GET', '/api/v2/users', status);
      await Promise.all([...told.valid.map(hasStatus(200)), ...told.invalidated.map(hasStatus(401))]);
    }
    const refreshed = { clientId: stored.clientId, refreshToken: told.refreshToken };
    expect(await refresh(nodes[1]!.http, refreshed)).toBe(200);
    expect(await refresh(nodes[2]!.http, refreshed)).toBe(400);
  });

  test('upgraded nodes keep the data from before the upgrade', async () => {
    // Fields that this version has added are ignored.
    for (const node of nodes) expect(await readReports(node)).toMatchObject(said);
  });

  test('each release ships the deltas that the other release left unshipped', async () => {
    const [first, second] = nodes as [Node, Node, Node];
    await restart(second, before);
    const { checks } = clients.told;
    for (const [node, binary] of [
      [first, before],
      [second, binaryPath],
    ] as const) {
      await database.stop();
      expect(await sendCheck(node.http, keys.frontendKey, node.name)).toBe(202);
      checks.set(node.name, 1);
      await stopAtOnce(node);
      await database.start();
      await restart(node, binary);
    }
    const shop = { credentials, application };
    for (const { http } of nodes)
      await vi.waitFor(async () => expect(await readChecks(http, shop)).toEqual(checks), often);
  });

  test('a node of the old release applies the log up to an unsupported entry until the node is updated', async () => {
    const [first, second, third] = nodes as [Node, Node, Node];
    await restart(first, before);
    const { checks } = clients.told;
    const now = Date.now();
    const total = metrics([sum(2, [point(5, now, now - 1, { 'feature_flag.key': 'counted' })])]);
    expect((await send(second, { key: keys.backendKey }, 'metrics', total)).status).toBe(200);
    checks.set('counted', 5);
    const shop = { credentials, application };
    for (const { http } of [second, third])
      await vi.waitFor(async () => expect(await readChecks(http, shop)).toEqual(checks), often);
    await vi.waitFor(() => expect(first.process.stderr()).toContain('update this node'), often);
    await vi.waitFor(() => expect(readChecks(first.http, shop)).rejects.toThrow('answered 503'), often);
    expect(await sendCheck(first.http, keys.frontendKey, 'meanwhile')).toBe(202);
    checks.set('meanwhile', 1);
    await restart(first, binaryPath);
    for (const { http } of nodes)
      await vi.waitFor(async () => expect(await readChecks(http, shop)).toEqual(checks), often);
  });

  test('a node refuses to start if the tables are too new, and the error explains what to do', async () => {
    const [node] = nodes as [Node, Node, Node];
    await stopAtOnce(node);
    const layout = (newest: number, oldest: number) =>
      database.query('UPDATE fm_engine SET layout = $1, oldest_layout = $2', [newest, oldest], engine);
    await layout(99, 99);
    const refused = await runProgram(before, createArgs(before, node));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/has layout 99, .*; this one knows layout \d+: update it on this node/);
    const migrated = await runProgram(before, ['engine', 'migrate', '--engine', engine]);
    expect([migrated.code, migrated.stderr]).toEqual([1, expect.stringContaining('use a newer flagmeter')]);
    await layout(99, 1); // Versions that support an earlier layout can continue with such tables.
    await restart(node, before);
  });
});

/** Reads the reports of data from before the upgrade. The audit log is not included, because it continues to grow. */
async function readReports({ http }: Node): Promise<object> {
  const { '/audit?limit=200': _, ...answers } = await readStore(http, stored);
  return steadyResponses(answers) as object;
}

/** @returns a node that is not started yet, with its own fixed ports */
async function freeAddresses(name: string): Promise<Place> {
  const address = async () => `127.0.0.1:${await freePort()}`;
  return { name, data: join(freshDirectory(), name), http: await address(), grpc: await address() };
}

function createArgs(binary: string, { name, data, http, grpc }: Place): string[] {
  const listen = ['--listen', http, '--grpc-listen', grpc];
  const own = ['--shutdown-grace', '4', ...(binary === before ? [] : ['--shutdown-delay', '3'])];
  return ['serve', '--data', data, '--engine', engine, '--node-name', name, ...listen, ...urls, ...own];
}

async function startNode(binary: string, node: Place): Promise<StartedProcess> {
  const started = await startProcess(binary, createArgs(binary, node));
  // As in the docs, the next node is started once this node is ready.
  await vi.waitFor(async () => expect((await fetch(`http://${node.http}/readyz`)).status).toBe(200), often);
  return started;
}

/** Stops a node that receives no requests. */
async function stopAtOnce({ process }: Node): Promise<void> {
  process.kill('SIGTERM');
  await stop(process); // The second signal ends the shutdown delay.
}

/** Stops a node if it runs, and starts it with an executable. */
async function restart(node: Node, binary: string): Promise<void> {
  await stopAtOnce(node);
  Object.assign(node, { binary, process: await startNode(binary, node) });
}

/** Stops a node cleanly and starts it with an executable, as in the docs. */
async function replace(node: Node, binary: string): Promise<void> {
  const isDrained = node.binary === before; // The previous release does not support --shutdown-delay.
  if (isDrained) await setState(node, 'drain');
  expect(await stop(node.process)).toMatchObject({ code: 0 });
  Object.assign(node, { binary, process: await startNode(binary, node) });
  if (isDrained) await setState(node, 'ready');
  await allAreUp(); // All nodes must be up before the next one stops.
}

const backends = ['flagmeter_http', 'flagmeter_manage', 'flagmeter_grpc'];

/** Sends a command to HAProxy. @returns its response */
function tell(command: string): Promise<string> {
  return text(connect(admin).end(`${command}\n`));
}

/** Makes HAProxy send requests to a node, or stop sending them. */
async function setState(node: Node, state: 'drain' | 'ready'): Promise<void> {
  const server = `node${nodes.indexOf(node) + 1}`;
  for (const backend of backends)
    expect((await tell(`set server ${backend}/${server} state ${state}`)).trim()).toBe('');
}

/** Resolves when HAProxy reports each node ready, in each backend. */
async function allAreUp(): Promise<void> {
  await vi.waitFor(async () => {
    const up = (await tell('show stat')).match(/^flagmeter_\w+,node\d,.*,UP,/gm);
    expect(up).toHaveLength(backends.length * nodes.length);
  }, often);
}

async function beginTraffic(): Promise<SteadyClients> {
  const [{ http }] = nodes as [Node];
  const access = await token(http, credentials);
  application = await createApplication(http, access, { name: 'Busy' });
  const path = `/api/v2/applications/${application}/features`;
  await manage(http, access, 'POST', path, 201, { name: 'changed' });
  const newKey = async (type: 'Frontend' | 'Backend') => (await createKey(http, access, application, type)).key;
  keys = { frontendKey: await newKey('Frontend'), backendKey: await newKey('Backend') };
  // A key created on another node is valid for packets within a second.
  for (const each of nodes)
    await vi.waitFor(async () => expect(await mintStatus(each.http, keys.backendKey)).toBe(200), often);
  await allAreUp();
  const { clientId, refreshToken } = stored;
  return startClients({ port: balancer.port, credentials, application, clientId, refreshToken, ...keys });
}

async function mintStatus(http: string, authorization: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization };
  const options = { method: 'POST', headers, body: JSON.stringify({ identity: 'probe' }) };
  return (await fetch(`http://${http}/api/frontend/identities`, options)).status;
}
