import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import { fillIn } from '../../src/console/pages/first-run/proxy-rule.ts';
import {
  type Binary,
  createApplication,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { byHttp1 } from '../support/proxy-clients.ts';
import { example, type ProxyKind, runProxy } from '../support/proxy-program.ts';
import { readChecks } from '../support/shop.ts';

/** Real proxies run the examples of docs/examples/unleash. */

const authorization = `default:production.${'f'.repeat(56)}`;

let service: Binary;
let shop: { readonly credentials: Awaited<ReturnType<typeof prepare>>; readonly application: string };
let unleash: Server;
/** Paths of the requests to the test server that replaces Unleash. */
const atUnleash: string[] = [];

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  service = await startBinary({ data });
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name: 'Shop' });
  const path = `/api/v2/applications/${application}/keys/adopt`;
  const adopted = { token: authorization, type: 'Backend', environment: 'Production' };
  await manage(service.http, access, 'POST', path, 201, adopted);
  shop = { credentials, application };
  unleash = createServer((request, response) => {
    atUnleash.push(request.url!);
    request.resume().on('end', () => response.writeHead(request.method === 'POST' ? 202 : 200).end());
  }).listen(0, '127.0.0.1');
  await once(unleash, 'listening');
});

afterAll(async () => {
  unleash.close();
  await stop(service);
});

const message = (flag: string) => ({
  appName: 'billing',
  instanceId: 'i',
  connectionId: flag,
  bucket: { start: new Date().toISOString(), stop: new Date().toISOString(), toggles: { [flag]: { yes: 1, no: 0 } } },
});

const countChecks = async (flag: string) => (await readChecks(service.http, shop)).get(flag);

describe.each<[ProxyKind, string, boolean]>([
  ['nginx', 'nginx.conf', false],
  ['nginx', 'nginx-mirror.conf', true],
  ['haproxy', 'haproxy.cfg', false],
  ['caddy', 'Caddyfile', false],
])('%s with %s', (kind, file, mirrors) => {
  needing(kind).test(
    `flagmeter counts reports behind a proxy, and Unleash ${mirrors ? 'gets' : 'does not get'} them`,
    async () => {
      const { port } = unleash.address() as AddressInfo;
      const text = example(`unleash/${file}`)
        .replaceAll('127.0.0.1:8080', service.http)
        .replaceAll('127.0.0.1:4242', `127.0.0.1:${port}`);
      const proxy = await runProxy(kind, freshDirectory(), text);
      atUnleash.length = 0;
      const flag = `flag-${file}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify(message(flag)) };
      const paths = ['/api/client/metrics', '/api/client/register', '/api/client/metrics'];
      for (const path of paths) expect(await byHttp1(proxy.port, path, sent)).toMatchObject({ status: 202 });
      expect(await byHttp1(proxy.port, '/api/client/features', { headers })).toMatchObject({ status: 200 });
      await expect.poll(() => countChecks(flag)).toBe(2); // The second report is not recognised as a repetition.
      expect(atUnleash).toEqual([...(mirrors ? paths : []), '/api/client/features']);
      await proxy.stop();
    },
  );
});

const pem = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));

/** Starts a TLS server in place of flagmeter. */
async function startTlsServer(): Promise<{ url: string; received: string[] }> {
  const received: string[] = [];
  const files = { cert: readFileSync(pem('cert')), key: readFileSync(pem('key')) };
  const server = createTlsServer(files, (request, response) => {
    const { servername } = request.socket as TLSSocket;
    received.push(`${request.url} of ${request.headers.host}, certificate of ${servername}`);
    request.resume().on('end', () => response.writeHead(202).end());
  }).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, received };
}

describe.each<[ProxyKind, string]>([
  ['nginx', 'nginx.conf'],
  ['haproxy', 'haproxy.cfg'],
  ['caddy', 'Caddyfile'],
])('%s with %s and TLS to the server', (kind, file) => {
  needing(kind).test('the proxy sends the name of the TLS server, and verifies its certificate', async () => {
    const { url, received } = await startTlsServer();
    const text = fillIn(example(`unleash/${file}`), url);
    const path = '/api/client/metrics';
    const sent = { method: 'POST', headers: { authorization }, body: '{}' };
    for (const [authority, statuses] of [
      ['cert', [202]],
      ['other-cert', [502, 503]],
    ] as const) {
      vi.stubEnv('SSL_CERT_FILE', pem(authority));
      const own = text.replace('/etc/ssl/certs/ca-certificates.crt', pem(authority));
      const proxy = await runProxy(kind, freshDirectory(), own.replace('@system-ca', pem(authority)));
      expect(statuses).toContain((await byHttp1(proxy.port, path, sent)).status);
      await proxy.stop();
    }
    vi.unstubAllEnvs();
    expect(received).toEqual([`${path} of ${new URL(url).host}, certificate of localhost`]);
  });
});
