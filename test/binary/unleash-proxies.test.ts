import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import {
  type Binary,
  cleanUp,
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

afterAll(cleanUp);

/** The examples of docs/examples/unleash, run by the real programs. */

const authorization = `default:production.${'f'.repeat(56)}`;

let service: Binary;
let shop: { readonly credentials: Awaited<ReturnType<typeof prepare>>; readonly application: string };
let unleash: Server;
/** The paths that arrived at a server in place of Unleash. */
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
  ...{ appName: 'billing', instanceId: 'i', connectionId: flag },
  bucket: {
    start: new Date().toISOString(),
    stop: new Date().toISOString(),
    toggles: { [flag]: { yes: 1, no: 0 } },
  },
});

const checksOf = async (flag: string) => (await readChecks(service.http, shop)).get(flag);

describe.each<[ProxyKind, string, boolean]>([
  ['nginx', 'nginx.conf', false],
  ['nginx', 'nginx-mirror.conf', true],
  ['haproxy', 'haproxy.cfg', false],
  ['caddy', 'Caddyfile', false],
])('%s with %s', (kind, file, mirrors) => {
  needing(kind).test(`counts reports, which Unleash ${mirrors ? 'gets too' : 'does not get'}`, async () => {
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
    await expect.poll(() => checksOf(flag)).toBe(1);
    expect(atUnleash).toEqual([...(mirrors ? paths : []), '/api/client/features']);
    await proxy.stop();
  });
});
