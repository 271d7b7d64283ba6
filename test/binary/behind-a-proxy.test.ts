import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encode } from '../auth/test-browser.ts';
import { RawClient } from '../http/support/raw-client.ts';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  token,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { startProxy } from '../support/proxy.ts';
import { byGrpc, byHttp1, byHttp2, type ProxyResponse, type RequestOptions } from '../support/proxy-clients.ts';
import { type ProxyKind, proxyKinds, type RunningProxy } from '../support/proxy-program.ts';
import { encode as encodeMessage } from '../support/report-messages.ts';

/** Real proxies run the examples of docs/examples/proxy. The tests check the client addresses that the service sees. */

const tls = new URL('../http/support/tls/', import.meta.url).pathname;
const [here, ann, bob] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;

interface Shop {
  readonly service: Binary;
  readonly credentials: Credentials;
  readonly access: string;
  readonly application: string;
  readonly serverKey: string;
}

async function openShop(args: readonly string[]): Promise<Shop> {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const service = await startBinary({ data, args });
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name: 'Shop' });
  const { key: serverKey } = await createKey(service.http, access, application, 'Backend');
  return { service, credentials, access, application, serverKey };
}

type Send = (port: number, path: string, sent: RequestOptions) => Promise<ProxyResponse>;

/** Changes the application, and returns the client address in the audit log entry of that change. */
async function findAddress(shop: Shop, port: number, send: Send, sent: RequestOptions): Promise<string> {
  const { service, access, application } = shop;
  const path = `/api/v2/applications/${application}`;
  const name = `Shop ${Math.random()}`;
  const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json', ...sent.headers };
  const change = { method: 'PATCH', body: JSON.stringify({ name }), ...sent, headers };
  expect(await send(port, path, change)).toMatchObject({ status: 200 });
  const { items } = (await manage(service.http, access, 'GET', '/api/v2/audit?limit=1', 200)) as {
    items: { target: { name: string }; actor: { address: string } }[];
  };
  expect(items[0]!.target.name).toBe(name);
  return items[0]!.actor.address;
}

/** Fills in the sign-in page of the console. @returns the status of the response */
async function signIn(port: number, localAddress: string, email: string, password: string, said = '') {
  const from = { localAddress, headers: { 'x-forwarded-for': said, forwarded: `for=${said}` } };
  let target = '/console/sign-in';
  let page = await byHttp1(port, target, from);
  while (page.headers['location'] !== undefined) {
    const { pathname, search } = new URL(String(page.headers['location']));
    target = pathname + search;
    page = await byHttp1(port, target, from);
  }
  const form = /name="form" value="([^"]*)"/.exec(page.body)?.[1];
  const cookie = String(page.headers['set-cookie']).split(';')[0]!;
  const headers = { ...from.headers, cookie, 'content-type': 'application/x-www-form-urlencoded' };
  const body = encode({ form, email, password });
  return (await byHttp1(port, target, { ...from, method: 'POST', headers, body })).status;
}

function testBehind(kind: ProxyKind): void {
  let shop: Shop;
  let proxy: RunningProxy;

  beforeAll(async () => {
    shop = await openShop(['--trusted-proxies', here]);
    proxy = await startProxy(kind, freshDirectory(), shop.service);
  });
  afterAll(() => proxy?.stop());

  const spoofs = ['198.51.100.7', '198.51.100.7, 127.0.0.1', '"', 'unknown', '127.0.0.1', ',', '::1'];

  describe.each([
    ['HTTP/1.1', byHttp1],
    ['HTTP/2', byHttp2],
  ] as const)('requests over %s', (_, send) => {
    test.each([ann, bob])('the audit log has the address %s of a client behind a proxy', async (localAddress) => {
      expect(await findAddress(shop, proxy.port, send, { localAddress })).toBe(localAddress);
    });

    test.each(spoofs)('a client behind a proxy cannot forge its address with %s', async (said) => {
      const headers = { 'x-forwarded-for': said, forwarded: `for=${said}`, 'x-real-ip': said, 'true-client-ip': said };
      expect(await findAddress(shop, proxy.port, send, { localAddress: ann, headers })).toBe(ann);
    });
  });

  test('the service ignores the forwarding header of a client that bypasses the proxy', async () => {
    const port = Number(shop.service.http.split(':')[1]);
    const past: Send = async (_, path, { method, headers, body }) => {
      const client = await RawClient.open(port, bob);
      const fields = Object.entries({ ...headers, 'x-forwarded-for': '198.51.100.7' });
      const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      client.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body!.length}\r\n${lines}\r\n${body}`);
      const { status, body: text } = await client.read();
      client.close();
      return { status, headers: {}, body: text.toString() };
    };
    expect(await findAddress(shop, port, past, {})).toBe(bob);
  });

  test('the proxy forwards gRPC calls', async () => {
    const message = encodeMessage('Usage.FeatureStat', stats(shop, `${kind}-grpc`));
    for (let sent = 0; sent < 3; sent += 1)
      expect(await byGrpc(proxy.port, '/Usage.Usage/SendStats', message)).toMatchObject({ code: 0 });
  });

  test('the client receives a refusal that is sent before the request body is read, and its next request succeeds', async () => {
    for (let sent = 0; sent < 3; sent += 1) {
      const headers = { 'content-type': 'application/json' };
      const large = { method: 'POST', headers, body: Buffer.alloc(4_500_000, 'a') };
      expect(await byHttp1(proxy.port, '/api/usage/stats', large)).toMatchObject({ status: 413 });
      expect(await byHttp1(proxy.port, '/healthz', {})).toMatchObject({ status: 200 });
      expect(
        await byHttp1(proxy.port, '/nowhere', { ...large, body: large.body.subarray(0, 4_000_000) }),
      ).toMatchObject({ status: 404 });
      expect(await byHttp1(proxy.port, '/healthz', {})).toMatchObject({ status: 200 });
    }
  });

  test('the service throttles a client that guesses passwords with forged headers, but no other client', async () => {
    const { adminEmail, adminPassword } = shop.credentials;
    for (let guess = 1; guess <= 5; guess += 1)
      expect(await signIn(proxy.port, ann, adminEmail, 'guess', `198.51.100.${guess}`)).toBe(403);
    expect(await signIn(proxy.port, ann, adminEmail, adminPassword, '198.51.100.9')).toBe(429);
    expect(await signIn(proxy.port, bob, adminEmail, adminPassword)).toBe(303);
  });
}

const stats = (shop: Shop, feature: string) => ({
  appKey: shop.serverKey,
  environment: 'Production',
  time: new Date().toISOString(),
  stats: [{ feature, variantStats: { on: { checkCount: 1 } } }],
});

function testWithTls(kind: ProxyKind): void {
  test('the service receives TLS through the proxy, for HTTP and gRPC on one port', async () => {
    const args = ['--tls-cert', `${tls}cert.pem`, '--tls-key', `${tls}key.pem`, '--trusted-proxies', here];
    const data = `${freshDirectory()}/data`;
    const { clientId, clientSecret } = await prepare(data);
    const service = await startBinary({ data, args });
    const proxy = await startProxy(kind, freshDirectory(), service, { tls: true });
    const grant = { grant_type: 'client_credentials', scope: 'openid flagmeter' };
    const body = encode({ ...grant, client_id: clientId, client_secret: clientSecret });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const send of [byHttp1, byHttp2])
      expect(await send(proxy.port, '/connect/token', { method: 'POST', headers, body })).toMatchObject({
        status: 200,
      });
    expect(await byGrpc(proxy.port, '/grpc.health.v1.Health/Check', Buffer.alloc(0))).toMatchObject({ code: 0 });
    await proxy.stop();
  });
}

for (const kind of proxyKinds)
  needing(kind).describe(`the service behind ${kind}`, () => {
    testBehind(kind);
    testWithTls(kind);
  });

describe('the service without trusted proxies', () => {
  needing('nginx').test(
    'the log warns once if trusted proxies are not configured, and all clients have the address of the proxy',
    async () => {
      const shop = await openShop([]);
      const proxy = await startProxy('nginx', freshDirectory(), shop.service);
      for (const localAddress of [ann, bob])
        expect(await findAddress(shop, proxy.port, byHttp1, { localAddress })).toBe(here);
      const lines = shop.service
        .stderr()
        .split('\n')
        .filter((line) => line.includes('header of an untrusted proxy'));
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({ level: 'warn', from: here, hint: expect.stringContaining('--trusted-proxies') }),
      ]);
      await proxy.stop();
    },
  );
});

for (const kind of proxyKinds)
  needing(kind).test(`${kind} forwards the refusals of the server unchanged during a flood of requests`, async () => {
    const few = ['--queue-high-packets', '4', '--queue-low-packets', '2', '--batch-packets', '4'];
    const shop = await openShop(['--rate', '200', '--burst', '200', ...few]);
    const proxy = await startProxy(kind, freshDirectory(), shop.service);
    const agent = new Agent({ keepAlive: true, maxSockets: 48 });
    const body = JSON.stringify({ ...stats(shop, 'flood'), pad: 'x'.repeat(20_000) });
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body, agent };
    const responses = await Promise.all(
      Array.from({ length: 800 }, () => byHttp1(proxy.port, '/api/usage/stats', sent)),
    );
    const results = responses.map((response) =>
      response.status === 200 ? 'taken' : String(JSON.parse(response.body).code),
    );
    expect(results).toContain('taken');
    expect(results).toContain('rate_limited');
    const others = results.filter((each) => !['taken', 'rate_limited', 'backpressure'].includes(each));
    expect(others).toEqual([]);
    agent.destroy();
    await proxy.stop();
  });

needing('haproxy', 'nginx').test('the client behind two proxies is the first address that is not a proxy', async () => {
  const shop = await openShop(['--trusted-proxies', here]);
  const near = await startProxy('nginx', freshDirectory(), shop.service);
  const both = `${here}:${near.port}`;
  const far = await startProxy('haproxy', freshDirectory(), { http: both, grpc: both }, { tls: true });
  for (const send of [byHttp1, byHttp2])
    for (const said of ['198.51.100.7', `198.51.100.7, ${here}`]) {
      const headers = { 'x-forwarded-for': said };
      expect(await findAddress(shop, far.port, send, { localAddress: ann, headers })).toBe(ann);
    }
  const message = encodeMessage('Usage.FeatureStat', stats(shop, 'two'));
  expect(await byGrpc(far.port, '/Usage.Usage/SendStats', message)).toMatchObject({ code: 0 });
  await far.stop();
  await near.stop();
});

/** Returns the documented line that makes a proxy write `Forwarded`, keyed by the line that it replaces. */
function readForwardedLine(kind: ProxyKind): Record<string, string> {
  const document = readFileSync(new URL('../../docs/proxies.md', import.meta.url), 'utf8');
  const row = {
    haproxy: /^\| HAProxy 2\.6 \| `(.*)` \|$/m,
    nginx: /^\| nginx \| `(.*)` \|$/m,
    caddy: /^\| Caddy \| `(.*)` \|$/m,
  }[kind];
  const line = row.exec(document)![1]!;
  const before = {
    haproxy: 'option forwardfor',
    nginx: 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    caddy: 'reverse_proxy http://127.0.0.1:8080 {',
  };
  return { [before[kind]]: kind === 'caddy' ? `${before[kind]}\n${line}` : line };
}

for (const kind of proxyKinds)
  needing(kind).test(`${kind} can send the address of the client in the header Forwarded`, async () => {
    const shop = await openShop(['--trusted-proxies', here, '--proxy-header', 'forwarded']);
    const proxy = await startProxy(kind, freshDirectory(), shop.service, { replace: readForwardedLine(kind) });
    for (const said of ['for=198.51.100.7', 'for="198.51.100.7', '"', 'for=198.51.100.7;by="']) {
      const headers = { forwarded: said, 'x-forwarded-for': '198.51.100.8' };
      expect(await findAddress(shop, proxy.port, byHttp1, { localAddress: ann, headers })).toBe(ann);
    }
    await proxy.stop();
  });
