import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { createApplication, createKey, token } from '../support/binary.ts';
import { parseExposition, type Sample } from '../support/exposition.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { freePort } from '../support/postgres-program.ts';
import { encode, usageReport } from '../support/report-messages.ts';
import { type LocalOptions, type LocalService, startLocal } from '../support/service.ts';

/** Starts a service with an application. Collects the secrets of its requests, which no output may contain. */
async function openService(options: LocalOptions = {}) {
  const service = await startLocal(options);
  const access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop' });
  const { key } = await createKey(service.http, access, application, 'Frontend');
  const send = (k: string, headers: Record<string, string> = {}) =>
    fetch(`http://${service.http}/api/frontend/telemetry`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://shop.example', ...headers },
      body: JSON.stringify({ k, e: 'Production', f: { checkout: { on: [1] } } }),
    });
  const forget = (identity: string) =>
    fetch(`http://${service.http}/api/v2/applications/${application}/identities/${identity}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${access}` },
    });
  return { service, access, application, key, send, forget };
}

async function scrape({ http }: LocalService): Promise<{ text: string; samples: Sample[] }> {
  const response = await fetch(`http://${http}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  return { text, samples: parseExposition(text).samples };
}

function figure(samples: Sample[], name: string, labels: Record<string, string> = {}): number | undefined {
  const same = (sample: Sample) =>
    sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  return samples.find(same)?.value;
}

describe('GET /metrics', () => {
  test('GET /metrics counts requests, refusals and commits, and contains no personal data', async () => {
    const { service, key, access, application, send, forget } = await openService();
    for (let time = 0; time < 3; time += 1) expect((await send(key)).status).toBe(202);
    expect((await send('no-such-key')).status).toBe(404);
    expect((await send(key, { origin: '' })).status).toBe(403);
    expect((await forget('ann@example.com')).status).toBe(204);
    expect((await fetch(`http://${service.http}/no/such/${key}`)).status).toBe(404);
    expect((await fetch(`http://${service.http}/healthz`, { method: 'PATCH' })).status).toBe(405);
    const { text, samples } = await scrape(service);
    const requests = 'flagmeter_http_requests_total';
    const route = '/api/frontend/telemetry';
    expect(figure(samples, requests, { method: 'POST', route, status: '202' })).toBe(3);
    expect(figure(samples, requests, { method: 'POST', route, status: '404' })).toBe(1);
    expect(figure(samples, requests, { route: 'none', status: '404' })).toBe(1);
    expect(figure(samples, requests, { method: 'other', route: '/healthz', status: '405' })).toBe(1);
    const forgetting = '/api/v2/applications/:id/identities/:identity';
    expect(figure(samples, requests, { method: 'DELETE', route: forgetting, status: '204' })).toBe(1);
    expect(figure(samples, requests, { route: '/connect/token', status: '200' })).toBe(1);
    expect(figure(samples, 'flagmeter_http_refusals_total', { code: 'unknown_key' })).toBe(1);
    const refusals = 'flagmeter_ingest_refusals_total';
    expect(figure(samples, refusals, { code: 'unknown_key', attributed: 'false' })).toBe(1);
    expect(figure(samples, refusals, { code: 'origin_missing', attributed: 'true' })).toBe(1);
    expect(figure(samples, 'flagmeter_packets_committed_total')).toBeGreaterThanOrEqual(3);
    const duration = 'flagmeter_http_request_duration_seconds';
    expect(figure(samples, `${duration}_count`, { method: 'POST', route })).toBe(5);
    expect(figure(samples, `${duration}_bucket`, { method: 'POST', route, le: '+Inf' })).toBe(5);
    expect(figure(samples, `${duration}_sum`, { method: 'POST', route })).toBeGreaterThan(0);
    for (const histogram of [
      'flagmeter_commit_duration_seconds',
      'flagmeter_batch_packets',
      'flagmeter_account_commit_duration_seconds',
    ]) {
      expect(figure(samples, `${histogram}_count`)).toBeGreaterThan(0);
      expect(figure(samples, `${histogram}_sum`)).toBeGreaterThan(0);
    }
    expect(figure(samples, 'flagmeter_tokens_issued_total', { grant: 'client_credentials' })).toBe(1);
    expect(figure(samples, 'flagmeter_tokens_invalidated_total')).toBe(0);
    expect(figure(samples, 'flagmeter_applications')).toBe(1);
    expect(figure(samples, 'flagmeter_disk_free_bytes', { directory: 'data' })).toBeGreaterThan(0);
    expect(figure(samples, 'flagmeter_disk_low', { directory: 'data' })).toBeGreaterThanOrEqual(0);
    expect(figure(samples, 'flagmeter_tokens_rejected_total', { reason: 'unknown_key' })).toBe(0);
    for (const thread of ['main', 'commit-1', 'reports'])
      expect(figure(samples, 'flagmeter_event_loop_delay_seconds_bucket', { thread })).toBeDefined();
    expect(figure(samples, 'flagmeter_event_loop_delay_seconds_count', { thread: 'commit-1' })).toBeGreaterThan(0);
    expect(figure(samples, 'flagmeter_queue_packets')).toBe(0);
    expect(figure(samples, 'flagmeter_queue_oldest_seconds')).toBe(0);
    expect(figure(samples, 'flagmeter_ready')).toBe(1);
    for (const store of ['accounts', 'usage'])
      expect(figure(samples, 'flagmeter_store_bytes', { store })).toBeGreaterThan(0);
    for (const store of ['accounts', 'usage'])
      expect(figure(samples, 'flagmeter_oldest_reader_seconds', { store })).toBeGreaterThanOrEqual(0);
    expect(figure(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(figure(samples, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    for (const secret of [key, access, application, 'ann', 'no-such', 'shop']) expect(text).not.toContain(secret);
    await service.stop();
  });

  test('GET /metrics returns a bounded number of series, whatever clients send', async () => {
    let ahead = 0;
    const clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() + ahead };
    const { service } = await openService({ clock });
    const ask = (path: string, method: string) => fetch(`http://${service.http}${path}`, { method });
    await ask('/x', 'GET');
    await ask('/healthz', 'PUT');
    await scrape(service);
    ahead += 1_000;
    const before = (await scrape(service)).samples.length;
    ahead += 1_000;
    for (let at = 0; at < 50; at += 1) {
      await ask(`/x-${at}/${at}`, 'GET');
      await ask('/healthz', at % 2 === 0 ? 'PUT' : 'PATCH');
    }
    expect((await scrape(service)).samples.length).toBe(before);
    await service.stop();
  });

  test('GET /metrics counts gRPC calls, and issued, invalidated and rejected tokens', async () => {
    const { service, access, key } = await openService();
    const report = encode('Usage.FeatureStat', { ...usageReport, appKey: key });
    const client = openClient(service.grpc);
    await call(client, '/Usage.Usage/SendStats', report);
    await call(client, '/Usage.Usage/SendStats', Buffer.from('no report'));
    await call(client, '/Usage.Usage/Nothing', report);
    client.close();
    await fetch(`http://${service.http}/api/account/invalidate-token`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access}` },
    });
    const { samples } = await scrape(service);
    const calls = 'flagmeter_grpc_calls_total';
    const method = '/Usage.Usage/SendStats';
    expect(figure(samples, calls, { method, status: 'OK' })).toBe(1);
    expect(figure(samples, calls, { method, status: 'INVALID_ARGUMENT' })).toBe(1);
    expect(figure(samples, calls, { method: 'none', status: 'UNIMPLEMENTED' })).toBe(1);
    expect(figure(samples, 'flagmeter_grpc_call_duration_seconds_count', { method })).toBe(2);
    expect(figure(samples, 'flagmeter_tokens_invalidated_total')).toBe(1);
    await service.stop();
  });

  test('GET /metrics gives every counter the suffix _total', async () => {
    const { service } = await openService();
    const { types } = parseExposition((await scrape(service)).text);
    for (const [name, type] of types) expect([name, type === 'counter']).toEqual([name, /_total$/.test(name)]);
    for (const [name, type] of types) if (type === 'histogram') expect(name).toMatch(/_(?:seconds|bytes|packets)$/);
    await service.stop();
  });

  test('the listener of the management API serves GET /metrics, and the public metrics host does not', async () => {
    const apart = await startLocal({ args: ['--api-listen', '127.0.0.1:0'] });
    expect((await fetch(`http://${apart.http}/healthz`)).status).toBe(200);
    expect((await fetch(`http://${apart.http}/metrics`)).status).toBe(404);
    await apart.stop();
  });

  test('GET /metrics rejects a request through a proxy on the same machine', async () => {
    const service = await startLocal();
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const response = await fetch(`http://${service.http}/metrics`, { headers });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('--ops-listen');
    await service.stop();
  });

  test('only the listener of --ops-listen serves GET /metrics if that option is set', async () => {
    const port = await freePort();
    const service = await startLocal({ args: ['--ops-listen', `127.0.0.1:${port}`] });
    const statusAt = async (http: string, path: string) => (await fetch(`http://${http}${path}`)).status;
    const ops = `127.0.0.1:${port}`;
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(await statusAt(ops, path)).toBe(200);
    for (const path of ['/api/v2/openapi.json', '/connect/openapi.json', '/swagger/v2/swagger.json', '/'])
      expect(await statusAt(ops, path)).toBe(404);
    expect(await statusAt(service.http, '/metrics')).toBe(404);
    expect(await statusAt(service.http, '/readyz')).toBe(200);
    await service.stop();
  });
});

describe('a request id', () => {
  test.each([
    ['a refusal', '/api/v2/users/me', 401],
    ['an unknown path', '/nowhere', 404],
    ['a response with a body', '/api/v2/openapi.json', 200],
  ])('each response has a unique request id: %s', async (_, path, status) => {
    const { service } = await openService();
    const ids = new Set<string | null>();
    for (let time = 0; time < 3; time += 1) {
      const response = await fetch(`http://${service.http}${path}`);
      expect(response.status).toBe(status);
      ids.add(response.headers.get('x-request-id'));
    }
    expect(ids.size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
    await service.stop();
  });

  test('the service accepts a valid request id from a proxy, and sends no request id for an accepted packet', async () => {
    const { service, key, send } = await openService();
    const ask = async (id: string) =>
      (await fetch(`http://${service.http}/nowhere`, { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    const own = /^[0-9a-f]{12}-[0-9a-z]+$/;
    expect(await ask('4bf92f3577b34da6a3ce929d0e0e4736')).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    for (const bad of ['a b', '"x"', 'x'.repeat(129), '']) expect(await ask(bad)).toMatch(own);
    expect((await send(key)).headers.has('x-request-id')).toBe(false);
    expect((await send('nobody')).headers.get('x-request-id')).toMatch(own);
    await service.stop();
  });
});

describe('--log-level debug', () => {
  const readLines = (service: LocalService) =>
    service
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test('--log-level debug logs every request by its route, and every commit, without personal data', async () => {
    const { service, access, key, send, forget } = await openService({ args: ['--log-level', 'debug'] });
    await forget('ann@example.com');
    expect((await send(key)).status).toBe(202);
    const refused = await send('no-such-key');
    const lines = readLines(service);
    const route = '/api/frontend/telemetry';
    const base = { level: 'debug', msg: 'request', method: 'POST', route };
    expect(lines).toContainEqual(expect.objectContaining({ ...base, status: 202, bytes: 0, ms: expect.any(Number) }));
    const requestId = refused.headers.get('x-request-id');
    expect(lines).toContainEqual(expect.objectContaining({ ...base, status: 404, code: 'unknown_key', requestId }));
    expect(lines).toContainEqual(
      expect.objectContaining({ route: '/api/v2/applications/:id/identities/:identity', status: 204 }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'debug', msg: 'committed', packets: expect.any(Number) }),
    );
    for (const secret of [key, access, 'ann@', 'no-such', service.credentials.clientSecret])
      expect(service.log()).not.toContain(secret);
    await service.stop();
  });

  test('only the log level debug logs requests and commits', async () => {
    const { service, key, send } = await openService();
    expect((await send(key)).status).toBe(202);
    expect(service.log()).not.toMatch(/"msg":"(?:request|committed)"/);
    await service.stop();
  });
});
