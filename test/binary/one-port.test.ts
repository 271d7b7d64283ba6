import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/http/bind-failure.ts';
import { connectChromium } from '../browser/support/chromium.ts';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  stop,
  token,
  usage,
} from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { readLedger } from '../support/ledger-report.ts';
import { needing } from '../support/needing.ts';
import { startProxy } from '../support/proxy.ts';
import { alpn, byGrpc, byHttp1, byHttp2 } from '../support/proxy-clients.ts';
import { encode } from '../support/report-messages.ts';

/** Real clients use gRPC, HTTP/1.1 and HTTP/2 on one address. Each message contains one check. */

const pem = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));
const tls = ['--tls-cert', pem('cert'), '--tls-key', pem('key')];
const sendStats = '/Usage.Usage/SendStats';
const path = '/api/frontend/telemetry';

interface Shop {
  readonly data: string;
  readonly address: string;
  readonly port: number;
  readonly access: string;
  readonly application: string;
  readonly packet: string;
  /** A packet with a Frontend key. */
  readonly pagePacket: string;
  readonly report: Buffer;
}

let shop: Shop;
let service: Binary;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const port = await freePort('127.0.0.1', 0);
  const address = `127.0.0.1:${port}`;
  service = await startBinary({ data, args: [...onePort(address), '--trusted-proxies', 'loopback'] });
  expect([service.http, service.grpc]).toEqual([address, address]);
  const access = await token(address, credentials);
  const application = await createApplication(address, access, { name: 'Shop' });
  const { key: phoneKey } = await createKey(address, access, application, 'Mobile');
  const { key: appKey } = await createKey(address, access, application, 'Backend');
  const { key: pageKey } = await createKey(address, access, application, 'Frontend');
  const formatPacket = (k: string) => JSON.stringify({ k, e: 'Production', f: { counted: { on: [1] } } });
  const stats = [{ feature: 'counted', variantStats: { on: { checkCount: 1 } } }];
  const time = new Date().toISOString();
  const report = encode('Usage.FeatureStat', { appKey, environment: 'Production', time, stats });
  const packets = { packet: formatPacket(phoneKey), pagePacket: formatPacket(pageKey) };
  shop = { data, address, port, access, application, report, ...packets };
});

function onePort(address: string): readonly string[] {
  return ['--listen', address, '--grpc-listen', address];
}

/** Sends a packet with curl. @returns the version of HTTP and the status */
async function byCurl(scheme: string, ...options: readonly string[]): Promise<string> {
  const json = ['-H', 'content-type: application/json', '-d', shop.packet];
  const url = `${scheme}://127.0.0.1:${shop.port}${path}`;
  const args = ['--silent', '--insecure', ...options, ...json, '-w', '%{http_version} %{http_code}', url];
  return (await promisify(execFile)('curl', args)).stdout;
}

async function counted(address = shop.address): Promise<number> {
  const from = new Date(Date.now() - 86_400_000);
  const to = new Date(Date.now() + 86_400_000);
  const query = { environment: 'Production', from, to, step: 'day', feature: 'counted' } as const;
  const { features } = await usage(address, shop.access, shop.application, query);
  return features[0]?.variants[0]?.checks ?? 0;
}

const posted = () => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: shop.packet });

describe('one port without TLS', () => {
  needing('curl').test.each([
    ['--http1.1', '1.1 202'],
    ['--http2-prior-knowledge', '2 202'],
    ['--http2', '1.1 202'],
  ])('one port counts a packet that is sent by curl %s', async (option, answer) => {
    const before = await counted();
    expect(await byCurl('http', option)).toBe(answer);
    expect(await counted()).toBe(before + 1);
  });

  test('one port counts packets of fetch, gRPC and gRPC-Web, and the ledger shows their transports', async () => {
    const before = await counted();
    const url = `http://${shop.address}`;
    expect((await fetch(`${url}${path}`, posted())).status).toBe(202);
    const client = openClient(shop.address);
    expect(await call(client, sendStats, shop.report)).toMatchObject({ code: 0 });
    client.close();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(shop.report.length, 1);
    const body = Buffer.concat([head, shop.report]);
    const headers = { 'content-type': 'application/grpc-web+proto' };
    const web = await fetch(`${url}${sendStats}`, { method: 'POST', headers, body });
    expect(await web.text()).toContain('grpc-status: 0');
    expect(await counted()).toBe(before + 3);
    const { entries } = await readLedger(shop.address, shop.access, shop.application);
    expect(new Set(entries.map(({ transport }) => transport))).toEqual(new Set(['http', 'grpc', 'grpc-web']));
  });

  for (const kind of ['haproxy', 'nginx'] as const)
    needing(kind).test(`one port counts all packets and reports that ${kind} forwards`, async () => {
      const before = await counted();
      const proxy = await startProxy(kind, freshDirectory(), { http: shop.address, grpc: shop.address });
      for (const send of [byHttp1, byHttp2])
        expect(await send(proxy.port, path, posted())).toMatchObject({ status: 202 });
      expect(await byGrpc(proxy.port, sendStats, shop.report)).toMatchObject({ code: 0 });
      expect(await counted()).toBe(before + 3);
      await proxy.stop();
    });
});

describe('one port with TLS', () => {
  let before: number;
  beforeAll(async () => {
    before = await counted();
    await stop(service);
    service = await startBinary({ data: shop.data, args: [...onePort(shop.address), ...tls] });
  });

  /** The management API has a listener without TLS. */
  afterAll(async () => {
    expect(await stop(service)).toMatchObject({ code: 0 });
  });

  const url = () => `https://127.0.0.1:${shop.port}`;

  needing('curl').test('one port with TLS selects the protocol by ALPN and content type', async () => {
    for (const offered of ['h2', 'http/1.1']) expect(await alpn(shop.port, [offered])).toBe(offered);
    expect(await byCurl('https', '--http2')).toBe('2 202');
    expect(await byCurl('https', '--http1.1')).toBe('1.1 202');
    for (const send of [byHttp1, byHttp2]) expect(await send(shop.port, path, posted())).toMatchObject({ status: 202 });
    expect(await byGrpc(shop.port, sendStats, shop.report)).toMatchObject({ code: 0 });
    before += 5;
  });

  needing('chromium-headless-shell').test('one port serves Chromium over HTTP/2', async () => {
    const chromium = await connectChromium();
    const page = await (await chromium.newContext({ ignoreHTTPSErrors: true })).newPage();
    await page.goto(`${url()}/`);
    await page.locator('input[name=password]').waitFor();
    await page.goto(`${url()}/healthz`);
    const status = await page.evaluate(
      ([to, body]) => fetch(to!, { method: 'POST', body: body! }).then((response) => response.status),
      [path, shop.pagePacket],
    );
    expect(status).toBe(202);
    before += 1;
    const protocols = await page.evaluate(
      `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).map((each) => each.nextHopProtocol)`,
    );
    expect(new Set(protocols as string[])).toEqual(new Set(['h2']));
    await chromium.close();
  });

  test('one port with TLS counts each message once across a restart', async () => {
    await stop(service);
    service = await startBinary({ data: shop.data, args: onePort(shop.address) });
    expect(await counted()).toBe(before);
  });
});
