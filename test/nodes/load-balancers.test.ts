import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { type BalancerKind, startBalancer } from '../support/load-balancer.ts';
import { needing } from '../support/needing.ts';
import { alpn, byGrpc, byHttp1, byHttp2 } from '../support/proxy-clients.ts';
import type { RunningProxy } from '../support/proxy-program.ts';
import { encode } from '../support/report-messages.ts';

/** The examples of docs/examples/cluster, run by the real load balancers and used by real clients. */

const origin = 'https://shop.example';

let service: Binary;
let packetKey: string;
let serverKey: string;
let access: string;
let application: string;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const admin = await prepare(data);
  service = await startBinary({ data, args: ['--trusted-proxies', '127.0.0.1'] });
  access = await token(service.http, admin);
  application = await createApplication(service.http, access, { name: 'Shop' });
  packetKey = (await createKey(service.http, access, application, 'Frontend')).key;
  serverKey = (await createKey(service.http, access, application, 'Backend')).key;
});

async function readFeatureChecks(feature: string): Promise<number> {
  const path = `/api/v2/applications/${application}/usage?environment=Production&feature=${feature}`;
  const response = await fetch(`http://${service.http}${path}`, { headers: { authorization: `Bearer ${access}` } });
  const { features } = (await response.json()) as { features: { checks: number }[] };
  return features[0]?.checks ?? 0;
}

const createPacket = (feature: string) =>
  JSON.stringify({ k: packetKey, e: 'Production', f: { [feature]: { on: [1] } } });

const createReport = (feature: string) => ({
  appKey: serverKey,
  environment: 'Production',
  time: new Date().toISOString(),
  stats: [{ feature, variantStats: { on: { checkCount: 1 } } }],
});

function testBehind(kind: BalancerKind): void {
  let balancer: RunningProxy;

  beforeAll(async () => {
    balancer = await startBalancer(kind, freshDirectory(), [service]);
    const isUp = async () => expect(await byHttp1(balancer.port, '/healthz', {})).toMatchObject({ status: 200 });
    await vi.waitFor(isUp); // The balancer checks the nodes first.
  });

  afterAll(() => balancer?.stop());

  test.each([
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1'], 'http/1.1'],
  ])('a client that offers %j gets the protocol %s', async (offered, chosen) => {
    expect(await alpn(balancer.port, offered)).toBe(chosen);
  });

  test.each([
    ['HTTP/1.1', byHttp1],
    ['HTTP/2', byHttp2],
  ] as const)('the load balancer forwards packets, tokens and reports over %s', async (protocol, send) => {
    const feature = `${kind}-${protocol.replace('/', '-')}`;
    const headers = { 'content-type': 'application/json', origin };
    const packet = { method: 'POST', headers, body: createPacket(feature) };
    expect(await send(balancer.port, '/api/frontend/telemetry', packet)).toMatchObject({ status: 202 });
    const report = { ...packet, body: JSON.stringify(createReport(feature)) };
    expect(await send(balancer.port, '/api/usage/stats', report)).toMatchObject({ status: 200 });
    expect(await readFeatureChecks(feature)).toBe(2);
    const read = { headers: { authorization: `Bearer ${access}` } };
    const listed = await send(balancer.port, '/api/v2/applications', read);
    expect(JSON.parse(listed.body).items).toHaveLength(1);
  });

  test('the load balancer forwards gRPC responses with their trailers', async () => {
    const feature = `${kind}-grpc`;
    const send = (environment: string) =>
      byGrpc(
        balancer.port,
        '/Usage.Usage/SendStats',
        encode('Usage.FeatureStat', { ...createReport(feature), environment }),
      );
    for (let repeated = 0; repeated < 5; repeated += 1) {
      expect(await send('Production')).toMatchObject({ code: 0 });
      const refused = await send('Nowhere');
      expect(refused).toMatchObject({ code: 5, details: expect.stringContaining('environment') });
    }
    expect(await readFeatureChecks(feature)).toBe(5);
    const health = await byGrpc(balancer.port, '/grpc.health.v1.Health/Check', Buffer.alloc(0));
    expect(health).toMatchObject({ code: 0 });
  });

  test('the load balancer forwards a report just below the size limit, and a larger report is refused', async () => {
    const padded = (bytes: number) => JSON.stringify({ ...createReport(`${kind}-large`), pad: 'x'.repeat(bytes) });
    const send = (bytes: number) =>
      byHttp1(balancer.port, '/api/usage/stats', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: padded(bytes),
      });
    expect(await send(4_100_000)).toMatchObject({ status: 200 });
    expect(await send(4_300_000)).toMatchObject({ status: 413 });
  });

  test('the audit log has the address of the client behind the load balancer', async () => {
    const localAddress = '127.0.0.2';
    const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
    const key = { method: 'POST', headers, body: '{"type":"Mobile"}', localAddress };
    const made = await byHttp1(balancer.port, `/api/v2/applications/${application}/keys`, key);
    expect(made).toMatchObject({ status: 201 });
    const listed = await byHttp1(balancer.port, '/api/v2/audit?limit=1', { headers });
    expect(JSON.parse(listed.body).items).toMatchObject([{ action: 'key.created', actor: { address: localAddress } }]);
  });

  test('the load balancer does not forward routes for operators', async () => {
    expect(await byHttp1(balancer.port, '/metrics', {})).toMatchObject({ status: 404 });
    // This request bypasses the balancer, but comes from the address whose forwarded headers the node trusts.
    const direct = await fetch(`http://${service.http}/metrics`);
    expect(direct.status).toBe(404);
    expect(await direct.text()).toContain('--ops-listen');
  });

  test('the load balancer sends no requests to an unreachable node', async () => {
    const gone = await startBinary();
    const both = await startBalancer(kind, freshDirectory(), [gone, service]);
    await stop(gone);
    const ask = async () => (await byHttp1(both.port, '/healthz', {})).status;
    const statuses = await Promise.all(Array.from({ length: 12 }, ask));
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (let at = 0; at < 4; at += 1) {
      const { code } = await byGrpc(both.port, '/grpc.health.v1.Health/Check', Buffer.alloc(0));
      expect(code).toBe(0);
    }
    await both.stop();
  });
}

for (const kind of ['haproxy', 'nginx'] as const)
  needing(kind).describe(`nodes behind ${kind}, on one port`, () => testBehind(kind));
