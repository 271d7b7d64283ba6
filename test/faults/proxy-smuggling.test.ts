import { Agent } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../http/support/raw-client.ts';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  token,
} from '../support/binary.ts';
import { startCarelessProxy } from '../support/careless-proxy.ts';
import { needing } from '../support/needing.ts';
import { startProxy } from '../support/proxy.ts';
import { byHttp1 } from '../support/proxy-clients.ts';
import { proxyKinds, type RunningProxy } from '../support/proxy-program.ts';
import { rawHttp2, sendRawHttp2 } from '../support/raw-http2.ts';
import { countingRequests, countRequests } from '../support/route-count.ts';
import { hidden, http1Attempts, http2Attempts } from '../support/smuggling.ts';

/**
 * These tests hide a request in another request. The proxy denies the hidden request. It reaches the service only if
 * the two disagree about the end of the outer request. The next client on that connection must get its own response.
 */

const origin = 'https://shop.example';
/** Changes to the examples: the proxy denies the hidden request, and all clients share connections to the service. */
const changes = {
  haproxy: {
    'http-request return status 404 if { path /metrics }': 'http-request deny if { path_beg /swagger/ }',
    'backend flagmeter_http\n': 'backend flagmeter_http\n    http-reuse always\n',
  },
  nginx: { 'location / {': 'location /swagger/ { return 403; }\n    location / {', 'keepalive 64': 'keepalive 1' },
  caddy: { 'respond /metrics 404': 'respond /swagger/* 403' },
} as const;

let service: Binary;
let packet: string;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  service = await startBinary({ data, args: countingRequests });
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name: 'Shop' });
  const { key } = await createKey(service.http, access, application, 'Frontend');
  packet = JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } } });
});

/** Returns the number of requests that reached the service although the proxy denies them. */
const smuggled = () => countRequests(service, (route) => route.startsWith('/swagger/'));

/** Connections of other clients to the proxy are kept open, to save the time for TLS handshakes. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterAll(() => agent.destroy());

/** Returns the responses to requests of other clients, one response for each kind of request. */
async function victims(port: number) {
  const headers = { 'content-type': 'application/json', origin };
  const sent = { method: 'POST', headers, body: packet, agent };
  const health = await byHttp1(port, '/healthz', { agent });
  const counted = await byHttp1(port, '/api/frontend/telemetry', sent);
  const keys = await byHttp1(port, '/.well-known/jwks.json', { agent });
  const ready = await byHttp1(port, '/readyz', { agent });
  return [
    `${health.status} ${health.body.slice(0, 100)}`,
    `${counted.status} ${counted.body.slice(0, 100)}`,
    `${keys.status} ${keys.body.slice(0, 8)}`,
    `${ready.status} ${ready.body.slice(0, 17)}`,
  ];
}

const alive = '{"status":"alive"}';
const own = [`200 ${alive}`, '202 ', '200 {"keys":', '200 {"status":"ready"'];

/** Maximum wait for a response, ms. Some requests get no response, because the proxy waits for more data. */
const waitMs = 100;

async function sendHttp1(port: number, bytes: string): Promise<() => void> {
  const client = await RawClient.openTls(port);
  client.write(bytes);
  const responded = client.status().catch(() => 0);
  await Promise.race([responded, new Promise((resolve) => setTimeout(resolve, waitMs))]);
  return () => client.close();
}

function testBehind(start: () => Promise<RunningProxy>, speaksHttp2: boolean): void {
  let proxy: RunningProxy;
  let smuggledCount = 0;
  beforeAll(async () => {
    proxy = await start();
    smuggledCount = await smuggled();
    expect(await victims(proxy.port)).toEqual(own);
  });
  afterAll(() => proxy?.stop());

  /** @param send sends a request, leaves the connection open, and returns a function that closes it */
  async function attempt(send: () => Promise<() => void>): Promise<void> {
    const close = await send();
    expect(await victims(proxy.port)).toEqual(own);
    close();
    expect(await byHttp1(proxy.port, '/healthz', { agent })).toMatchObject({ status: 200, body: alive });
    expect(await smuggled()).toBe(smuggledCount);
  }

  test('the proxy denies the hidden request if it is sent as a normal request', async () => {
    expect(await byHttp1(proxy.port, '/swagger/v2/swagger.json', {})).toMatchObject({ status: 403 });
    const direct = await RawClient.open(Number(service.http.split(':')[1]));
    direct.write(hidden);
    expect((await direct.read()).status).toBe(200);
    direct.close();
    expect(await smuggled()).toBe(smuggledCount + 1);
    smuggledCount += 1;
  });

  test.each(http1Attempts)('no request can be hidden over HTTP/1.1 by %s', (_, bytes) =>
    attempt(() => sendHttp1(proxy.port, bytes)),
  );

  test.each(speaksHttp2 ? http2Attempts : [])('no request can be hidden over HTTP/2 by %s', (_, fields, bodies) =>
    attempt(() => sendRawHttp2(proxy.port, rawHttp2(fields, bodies), waitMs)),
  );
}

for (const kind of proxyKinds)
  needing(kind).describe(kind, () => {
    testBehind(() => startProxy(kind, freshDirectory(), service, { replace: changes[kind] }), true);
  });

/**
 * The real proxies refuse or correct most hidden requests. The service must refuse hidden requests that a careless
 * proxy forwards.
 */
describe.each(['length', 'chunks'] as const)('a careless proxy that trusts the %s', (belief) => {
  testBehind(() => startCarelessProxy(service.http, belief), false);
});
