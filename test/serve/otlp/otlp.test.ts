import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApplication, createKey, freshDirectory, manage, token } from '../../support/binary.ts';
import { type LocalService, startLocal } from '../../support/service.ts';
import { openReceiver } from '../../webhooks/receiver.ts';
import { type Metric, readValues, TestCollector } from './collector.ts';

const secret = 'of-the-collector';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

let collector: TestCollector;
let service: LocalService;

beforeAll(async () => {
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100'); // Delay of the package before it sends spans, ms.
  collector = await TestCollector.open();
  const headers = join(freshDirectory(), 'headers');
  writeFileSync(headers, `# For the collector\nAuthorization: Bearer ${secret}\n`);
  service = await startLocal({
    args: [
      ...['--otlp-endpoint', collector.url, '--otlp-headers-file', headers],
      ...['--otlp-every', '1', '--otlp-trace-one-in', '1000000000', '--webhook-allow-private'],
    ],
  });
});
afterAll(async () => {
  collector?.close();
  vi.unstubAllEnvs();
});

function get(path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`http://${service.http}${path}`, { headers });
}

const spans = (id = traceId) => collector.listSpans(id);

describe('a collector', () => {
  it('a collector receives the usage of each application, with the sums of the month', async () => {
    const access = await token(service.http, service.credentials);
    const id = await createApplication(service.http, access, { name: 'Shop' });
    const { key } = await createKey(service.http, access, id, 'Mobile');
    await manage(service.http, access, 'PUT', `/api/v2/applications/${id}/metrics/depth`, 201, { kind: 'gauge' });
    for (const depth of [7, 4]) {
      const packet = { k: key, e: 'Production', f: { checkout: { on: [3, 2, 1] } }, m: { depth, sales: 2 } };
      const sent = { method: 'POST', body: JSON.stringify(packet) };
      expect((await fetch(`http://${service.http}/api/frontend/telemetry`, sent)).status).toBe(202);
    }
    const checks = (value: number) => expect.objectContaining({ asDouble: value });
    await vi.waitFor(
      () => expect(findMetrics(id).get('flagmeter.feature.checks')).toMatchObject({ points: [checks(6)] }),
      20_000,
    );
    const metrics = findMetrics(id);
    expect(metrics.get('flagmeter.feature.used')).toMatchObject({ points: [checks(4)], isMonotonic: true });
    expect(metrics.get('flagmeter.metric.sum')).toMatchObject({ points: [checks(4)] });
    expect(metrics.get('flagmeter.metric.last')?.points).toMatchObject([checks(4)]);
    const { points, temporality } = metrics.get('flagmeter.feature.checks')!;
    expect(temporality).toBe('AGGREGATION_TEMPORALITY_CUMULATIVE');
    expect(readValues(points[0].attributes)).toEqual({
      'deployment.environment.name': 'Production',
      'feature_flag.key': 'checkout',
      'feature_flag.result.variant': 'on',
    });
    const now = new Date();
    expect(points[0].startTimeUnixNano / 1e6).toBe(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    expect(collector.at('/v1/metrics')[0]!.headers['authorization']).toBe(`Bearer ${secret}`);
    expect(service.log()).not.toContain(secret);
  });

  it('a collector receives the spans of a traced request, whose response contains the id of the span', async () => {
    const sent = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=1' };
    const response = await get('/api/v2/applications/app_none/keys', sent);
    expect(response.status).toBe(401);
    const named = response.headers.get('traceresponse');
    expect(named).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    await vi.waitFor(() => expect(spans()).not.toEqual([]));
    const [span, ...others] = spans();
    expect(others).toEqual([]);
    expect(span).toMatchObject({
      parent: parentId,
      spanId: named!.split('-')[2],
      traceState: 'vendor=1',
      kind: 'SPAN_KIND_SERVER',
      name: 'GET /api/v2/applications/:id/keys',
    });
    expect(readValues(span.attributes)).toEqual({
      'http.request.method': 'GET',
      'http.route': '/api/v2/applications/:id/keys',
      'http.response.status_code': 401,
      'error.type': 'unauthorized',
    });
    expect(JSON.stringify(span)).not.toContain('app_none');
  });

  it.each([
    ['is not sampled', { traceparent: `00-${traceId}-${parentId}-00` }],
    ['is malformed', { traceparent: `00-${traceId}-zz-01` }],
    ['is absent, if the request is not sampled', {}],
  ])('a collector receives no trace of a request whose traceparent %s', async (_, headers) => {
    expect((await get('/healthz', headers as Record<string, string>)).headers.has('traceresponse')).toBe(false);
  });

  it('an unreachable collector is logged once, while the service continues', async () => {
    collector.status = 400;
    const warnings = () => service.log().split('sending usage to the collector failed').length - 1;
    await vi.waitFor(() => expect(warnings()).toBe(1));
    expect((await get('/readyz', {})).status).toBe(200);
    collector.status = 200;
    await vi.waitFor(() => expect(service.log()).toContain('sending usage to the collector works again'), 20_000);
    expect(warnings()).toBe(1);
  });
});

describe('the trace of a request', () => {
  /** Sends a request in a new trace, and resolves with the spans of the trace. */
  async function traced(method: string, path: string, body: object | undefined, childCount: number) {
    const id = randomBytes(16).toString('hex');
    const access = await token(service.http, service.credentials);
    const response = await fetch(`http://${service.http}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${access}`,
        traceparent: `00-${id}-${parentId}-01`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
    await response.text();
    await vi.waitFor(() => expect(spans(id)).toHaveLength(1 + childCount));
    const [server, ...others] = spans(id).sort((a) => (a.kind === 'SPAN_KIND_SERVER' ? -1 : 1));
    for (const child of others) {
      expect(child.parent).toBe(server.spanId);
      expect(child.startTimeUnixNano).toBeGreaterThanOrEqual(server.startTimeUnixNano);
    }
    return { server, parts: others };
  }

  async function ready() {
    const access = await token(service.http, service.credentials);
    const id = await createApplication(service.http, access, { name: 'Parts' });
    const { key } = await createKey(service.http, access, id, 'Mobile');
    return { access, id, key };
  }

  it('the trace of a packet contains a span for the wait for its commit', async () => {
    const packet = { k: (await ready()).key, e: 'Production', f: { checkout: { on: [1] } } };
    const { server, parts } = await traced('POST', '/api/frontend/telemetry', packet, 1);
    expect(parts).toMatchObject([{ name: 'wait for commit', kind: 'SPAN_KIND_INTERNAL' }]);
    expect(parts[0].endTimeUnixNano).toBeLessThanOrEqual(server.endTimeUnixNano);
  });

  it.each([
    ['the run of a report', 'usage?environment=Production', 'report usage'],
    ['the beginning of an export', 'usage?environment=Production&format=csv', 'begin export usage'],
  ])('the trace of a request contains a span for %s', async (_, path, name) => {
    const { id } = await ready();
    const { parts } = await traced('GET', `/api/v2/applications/${id}/${path}`, undefined, 1);
    expect(parts).toMatchObject([{ name }]);
  });

  it('the trace of a change of accounts contains a span for the wait for its commit', async () => {
    const { parts } = await traced('POST', '/api/v2/applications', { name: 'Another' }, 1);
    expect(parts).toMatchObject([{ name: 'wait for commit of accounts' }]);
  });

  it('a traced webhook delivery sends a traceparent to its receiver', async () => {
    const statuses = [500, 200];
    const receiver = await openReceiver((response) => response.writeHead(statuses.shift() ?? 200).end());
    const { teamId } = service.credentials;
    const { access } = await ready();
    await manage(service.http, access, 'POST', `/api/v2/teams/${teamId}/webhooks`, 201, {
      name: 'Chat',
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ['member.changed'],
    });
    const user = { email: 'ada@example.com', name: 'Ada', role: 'User', teams: [teamId] };
    const { parts } = await traced('POST', '/api/v2/users', { ...user, password: 'a long password' }, 2);
    const call = parts.find(({ name }) => name === 'POST webhook');
    expect(call).toMatchObject({ kind: 'SPAN_KIND_CLIENT', status: { code: 'STATUS_CODE_ERROR' } });
    const told = receiver.received[0]!;
    expect(told.headers['traceparent']).toBe(`00-${call.traceId}-${call.spanId}-01`);
    expect(readValues(call.attributes)).toEqual({
      'flagmeter.webhook.id': expect.stringMatching(/^webhook_/),
      'flagmeter.delivery.id': told.headers['webhook-id'],
      'error.type': '500',
    });
  });

  it('an unsampled request has no spans, and its webhook deliveries contain no traceparent', async () => {
    const receiver = await openReceiver((response) => response.writeHead(204).end());
    const { teamId } = service.credentials;
    const { access } = await ready();
    const made = await manage(service.http, access, 'POST', `/api/v2/teams/${teamId}/webhooks`, 201, {
      name: 'Quiet',
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ['member.changed'],
    });
    const { id } = made as { id: string };
    const path = `/api/v2/teams/${teamId}/webhooks/${id}/test`;
    await manage(service.http, access, 'POST', path, 201);
    await receiver.arrived(1);
    expect(receiver.received[0]!.headers).not.toHaveProperty('traceparent');
  });
});

/** Returns the metrics of an application in the last push, by name. */
function findMetrics(id: string): ReadonlyMap<string, Metric> {
  return collector.listUsage(id).at(-1)?.metrics ?? new Map();
}
