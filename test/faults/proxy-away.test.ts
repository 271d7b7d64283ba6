import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../src/http/bind-failure.ts';
import { type Binary, freshDirectory, startBinary } from '../support/binary.ts';
import { startBalancer } from '../support/load-balancer.ts';
import { needing } from '../support/needing.ts';
import { startProxy } from '../support/proxy.ts';
import { byHttp1, byHttp2 } from '../support/proxy-clients.ts';
import { type Behind, proxyKinds, type RunningProxy } from '../support/proxy-program.ts';

/**
 * Tests of proxies that use docs/examples while the server is unreachable. Pages must be able to read the responses.
 */

const origin = 'https://shop.example';
const path = '/api/frontend/telemetry';
const preflight = {
  method: 'OPTIONS',
  headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
};
const packet = { method: 'POST', headers: { origin, 'content-type': 'application/json' }, body: '{}' };

let service: Binary;
let nowhere: Behind;

beforeAll(async () => {
  service = await startBinary();
  const [http, grpc] = await Promise.all([freePort('127.0.0.1', 0), freePort('127.0.0.1', 0)]);
  nowhere = { http: `127.0.0.1:${http}`, grpc: `127.0.0.1:${grpc}` };
});

/** Returns the headers of a response that a browser evaluates. */
function readable({ headers }: { headers: object }): Record<string, unknown> {
  const kept = Object.entries(headers).filter(([name]) => /^(access-control-|vary$)/.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value).toLowerCase()]));
}

const protocols = [
  ['HTTP/1.1', byHttp1],
  ['HTTP/2', byHttp2],
] as const;

function testBehind(start: (server: Behind) => Promise<RunningProxy>): void {
  let away: RunningProxy;
  let up: RunningProxy;
  beforeAll(async () => {
    [away, up] = await Promise.all([start(nowhere), start(service)]);
  });
  afterAll(async () => {
    await Promise.all([away?.stop(), up?.stop()]);
  });

  test.each(protocols)('the proxy responds to preflights over %s as the server does', async (_, send) => {
    const own = await send(away.port, path, preflight);
    const real = await send(up.port, path, preflight);
    expect([own.status, real.status]).toEqual([204, 204]);
    expect(readable(own)).toEqual(readable(real));
    expect(readable(own)).toMatchObject({ 'access-control-allow-origin': origin, vary: 'origin' });
  });

  test.each(protocols)('pages can read the 503 response of the proxy to a packet over %s', async (_, send) => {
    const response = await send(away.port, path, packet);
    expect(response).toMatchObject({ status: 503, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(readable(response)).toEqual({ 'access-control-allow-origin': origin, vary: 'origin' });
  });

  test('pages cannot read responses of the proxy to the management API or to a packet without an origin', async () => {
    const refused = await byHttp1(up.port, path, { ...packet, headers: { 'content-type': 'application/json' } });
    for (const response of [
      await byHttp1(away.port, '/api/v2/applications', { headers: { origin } }),
      await byHttp1(away.port, '/api/v2/applications', preflight),
      await byHttp1(up.port, '/api/v2/applications', { headers: { origin } }),
      refused,
    ])
      expect(response.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('the proxy does not change the responses of the server', async () => {
    const response = await byHttp1(up.port, path, packet);
    expect(response).toMatchObject({ status: 400, headers: { 'access-control-allow-origin': origin } });
    expect(response.headers).not.toHaveProperty('retry-after');
  });
}

for (const kind of proxyKinds)
  needing(kind).describe(`${kind} without its server`, () => {
    testBehind((server) => startProxy(kind, freshDirectory(), server));
  });

for (const kind of ['haproxy', 'nginx'] as const)
  needing(kind).describe(`${kind} without its nodes`, () => {
    testBehind((node) => startBalancer(kind, freshDirectory(), [node]));
  });
