import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ServiceStatus } from '../../src/contract/shapes/status.ts';
import { evaluation, logs, metrics, point, sum } from '../ingest/otlp/messages.ts';
import { send } from '../ingest/otlp/send.ts';
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
import { frontThreads } from '../support/front-threads.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparedDatabase } from '../support/prepare-postgres.ts';
import { encode } from '../support/report-messages.ts';

/** Three nodes on one PostgreSQL, which receive requests as from a load balancer. */

const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];
const environment = 'Production';
const origin = 'https://shop.example';
const often = { interval: 100 };

let database: Postgres;
let postgresUrl: string;
let credentials: Credentials;
const nodes: Binary[] = [];
let bearer: string;
let application: string;
const keys: Record<string, string> = {};
/** Number of checks that were accepted or got no response. */
let counted = 0;

needing('postgresql').describe('three nodes on one PostgreSQL', () => {
  beforeAll(async () => {
    database = await Postgres.shared();
    ({ url: postgresUrl, credentials } = await preparedDatabase(database));
    for (const [name, threads] of Object.entries({ one: 0, two: 1, three: 3 }))
      nodes.push(await startNode(name, threads));
    bearer = await token(nodes[0]!.http, credentials);
    application = await createApplication(nodes[0]!.http, bearer, { name: 'Shop' });
    for (const type of ['Frontend', 'Backend'] as const)
      keys[type] = (await createKey(nodes[0]!.http, bearer, application, type)).key;
    // A node can refuse a new key of another node for a second, unless a management request came first.
    for (const node of nodes) expect((await get(node, '/api/v2/applications')).status).toBe(200);
  });

  afterAll(async () => {
    for (const node of nodes) await stop(node);
  });

  test('nodes share all records created on one node, and each node reports the counts of all nodes', async () => {
    for (const node of nodes) {
      for (let time = 0; time < 5; time += 1) await sendPacket(node);
      await sendReport(node);
    }
    for (const node of nodes) await vi.waitFor(async () => expect(await countChecks(node)).toBe(counted), often);
  });

  test('nodes count each OpenTelemetry export once, even if different nodes receive its sums or its repetitions', async () => {
    const now = Date.now();
    const event = logs([evaluation({ 'feature_flag.result.variant': 'on' }, now)]);
    for (const node of nodes) await sendExport(node, 'logs', event);
    counted += 1;
    for (const value of [3, 7, 7, 12, 15, 15, 21]) {
      const node = nodes[value % 3]!;
      const next = nodes[(value + 1) % 3]!;
      const total = metrics([sum(2, [point(value, now + value, now)])]);
      await sendExport(node, 'metrics', total);
      await sendExport(next, 'metrics', total);
    }
    counted += 21;
    for (const node of nodes) await vi.waitFor(async () => expect(await countChecks(node)).toBe(counted), often);
  });

  test('nodes report the time through which their counts are complete', async () => {
    const before = Date.now();
    await sendPacket(nodes[1]!);
    await vi.waitFor(async () => {
      const response = await get(nodes[2]!, usagePath());
      const { completeThrough } = (await response.json()) as { completeThrough: string };
      expect(Date.parse(completeThrough)).toBeGreaterThan(before);
      expect(response.headers.get('flagmeter-complete-through')).toBe(completeThrough);
    }, often);
  });

  test('each node lists all nodes in its status and its metrics', async () => {
    for (const node of nodes) {
      await vi.waitFor(async () => {
        const { cluster } = (await (await get(node, '/api/v2/status')).json()) as ServiceStatus;
        expect(cluster).toMatchObject({ connected: true, refusedRows: 0 });
        expect(cluster?.nodes.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
          'one up',
          'three up',
          'two up',
        ]);
      }, often);
      const metrics = await (await fetch(`http://${node.http}/metrics`)).text();
      expect(metrics).toMatch(/^flagmeter_nodes\{state="up"\} 3$/m);
      expect(metrics).toMatch(/^flagmeter_engine_connected 1$/m);
      expect(metrics).toMatch(/^flagmeter_managing 1$/m);
    }
  });

  test('nodes accept an instance id that another node minted, and forgetting a person affects all nodes', async () => {
    const identity = 'ann@example.com';
    const instance = await mint(nodes[0]!, identity);
    await sendPacket(nodes[1]!, { i: instance });
    for (const node of nodes) await vi.waitFor(async () => expect(await countExposures(node, identity)).toBe(1), often);
    const path = `/api/v2/applications/${application}/identities/${encodeURIComponent(identity)}`;
    expect((await get(nodes[0]!, path, 'DELETE')).status).toBe(204);
    await sendPacket(nodes[1]!, { i: instance });
    for (const node of nodes) await vi.waitFor(async () => expect(await countExposures(node, identity)).toBe(0), often);
  });

  test('all nodes immediately refuse a token that was invalidated on one node', async () => {
    const other = await token(nodes[1]!.http, credentials);
    for (const node of nodes) expect((await get(node, '/api/v2/status', 'GET', other)).status).toBe(200);
    expect((await get(nodes[0]!, '/api/account/invalidate-token', 'POST', other)).status).toBe(200);
    for (const node of nodes) expect((await get(node, '/api/v2/status', 'GET', other)).status).toBe(401);
  });

  test('nodes without PostgreSQL count packets but refuse management requests, and lose no counts', async () => {
    await database.stop();
    for (const node of nodes) await sendPacket(node);
    for (const node of nodes) {
      const refused = await get(node, '/api/v2/applications');
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ code: 'postgres_unavailable' });
      expect((await fetch(`http://${node.http}/.well-known/jwks.json`)).status).toBe(200);
      const able = await fetch(`http://${node.http}/readyz`);
      expect(able.status).toBe(200);
      expect(await able.json()).toMatchObject({ counting: { ready: true }, managing: { ready: false } });
      expect((await fetch(`http://${node.http}/readyz?for=managing`)).status).toBe(503);
      await sendReport(node);
    }
    await database.start();
    for (const node of nodes) await vi.waitFor(async () => expect(await countChecks(node)).toBe(counted), often);
    for (const node of nodes) expect((await fetch(`http://${node.http}/readyz?for=managing`)).status).toBe(200);
  });

  test('a node that joined earlier can restart and count while PostgreSQL is unreachable', async () => {
    const [first] = nodes;
    await stop(nodes[2]!);
    await database.stop();
    nodes[2] = await startBinary({ data: nodes[2]!.data, args: nodeArgs('three') });
    await sendPacket(nodes[2]);
    await database.start();
    await vi.waitFor(async () => expect(await countChecks(first!)).toBe(counted), often);
    await vi.waitFor(async () => expect(await countChecks(nodes[2]!)).toBe(counted), often);
  });

  test('all nodes report the packets accepted by a killed node once that node is back', async () => {
    await sendPacket(nodes[1]!);
    await stop(nodes[1]!, 'SIGKILL');
    nodes[1] = await startBinary({ data: nodes[1]!.data, args: nodeArgs('two') });
    for (const node of nodes) await vi.waitFor(async () => expect(await countChecks(node)).toBe(counted), often);
  });
});

function nodeArgs(name: string): string[] {
  return ['--postgres', postgresUrl, '--node-name', name, ...urls];
}

function startNode(name: string, threads = 1): Promise<Binary> {
  const args = [...nodeArgs(name), ...frontThreads(threads)];
  return startBinary({ data: join(freshDirectory(), name), args });
}

async function sendPacket({ metrics }: Binary, more: object = {}): Promise<void> {
  const response = await fetch(`http://${metrics}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ k: keys['Frontend'], e: environment, f: { checkout: { on: [1] } }, ...more }),
  });
  expect(response.status).toBe(202);
  counted += 1;
}

/** Reports two checks over gRPC. */
async function sendReport({ grpc }: Binary): Promise<void> {
  const client = openClient(grpc);
  const message = encode('Usage.FeatureStat', {
    appKey: keys['Backend'],
    environment,
    time: new Date().toISOString(),
    stats: [{ feature: 'checkout', variantStats: { on: { checkCount: 2 } } }],
  });
  const { code } = await call(client, '/Usage.Usage/SendStats', message);
  client.close();
  expect(code).toBe(0);
  counted += 2;
}

/** Exports data as OpenTelemetry does. */
async function sendExport(node: Binary, signal: 'logs' | 'metrics', request: object): Promise<void> {
  expect((await send({ http: node.metrics }, { key: keys['Backend']! }, signal, request)).status).toBe(200);
}

async function mint({ metrics }: Binary, identity: string): Promise<string> {
  const response = await fetch(`http://${metrics}/api/frontend/identities`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: keys['Backend']! },
    body: JSON.stringify({ identity }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { instanceId: string }).instanceId;
}

function get({ http }: Binary, path: string, method = 'GET', access = bearer): Promise<Response> {
  return fetch(`http://${http}${path}`, { method, headers: { authorization: `Bearer ${access}` } });
}

function usagePath(): string {
  return `/api/v2/applications/${application}/usage?environment=${environment}`;
}

async function countChecks(node: Binary): Promise<number> {
  const { features } = (await (await get(node, usagePath())).json()) as { features: { checks: number }[] };
  return features[0]?.checks ?? 0;
}

async function countExposures(node: Binary, identity: string): Promise<number> {
  const person = `/api/v2/applications/${application}/identities/${encodeURIComponent(identity)}`;
  const response = await get(node, `${person}/exposures?environment=${environment}`);
  return ((await response.json()) as { exposures: unknown[] }).exposures.length;
}
