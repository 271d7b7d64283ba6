import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../http/support/raw-client.ts';
import { type Binary, createApplication, freshDirectory, prepare, startBinary, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { startProxy } from '../support/proxy.ts';
import { proxyKinds, type RunningProxy } from '../support/proxy-program.ts';
import { rawHttp2, sendRawHttp2 } from '../support/raw-http2.ts';
import { countingRequests, countRequests } from '../support/route-count.ts';

/** Path rules of a proxy. No spelling of a denied path may reach the service. */

let service: Binary;
let access: string;
let application: string;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  service = await startBinary({ data, args: ['--trusted-proxies', '127.0.0.1', ...countingRequests] });
  access = await token(service.http, credentials);
  application = await createApplication(service.http, access, { name: 'Shop' });
});

/** One rule denies the management API. The other denies everything except packets and minting of ids. */
const rules = {
  denies: {
    haproxy: 'http-request deny if { path_beg /api/v2/ }',
    nginx: 'location /api/v2/ { return 403; }\n    location / {',
    caddy: 'respond /api/v2/* 403',
  },
  admits: {
    haproxy: 'http-request deny unless { path_beg /api/frontend/ }',
    nginx: 'location /api/frontend/ {',
    caddy: '@others not path /api/frontend/*\n\trespond @others 403',
  },
} as const;

const places = {
  haproxy: 'http-request return status 404 if { path /metrics }',
  nginx: 'location / {',
  caddy: 'respond /metrics 404',
} as const;

/** Spellings of the path of a list in the API. */
const listed = [
  '/api/v2/applications',
  '//api/v2/applications',
  '/api//v2/applications',
  '/api/v2//applications',
  '/./api/v2/applications',
  '/api/./v2/applications',
  '/x/../api/v2/applications',
  '/%2e/api/v2/applications',
  '/api/frontend/../v2/applications',
  '/api/frontend/..//v2/applications',
  '/api/frontend/%2e%2e/v2/applications',
  '/api/frontend/.%2E/v2/applications',
  '/api/frontend/%2e%2e%2fv2/applications',
  '/api/frontend/..%2fv2/applications',
  '/api/frontend/..%5cv2%5capplications',
  '/api/frontend/..\\v2\\applications',
  '/api\\v2\\applications',
  '/api/frontend/..;/v2/applications',
  '/api/frontend/;/../v2/applications',
  '/api;x/v2/applications',
  '/api/v2;x/applications',
  '/api/v2/applications;/api/frontend/',
  '/api/v2/applications%3f/../../frontend/',
  '/api%2fv2/applications',
  '/api%2fv2%2fapplications',
  '/api/v2%2fapplications',
  '/%61pi/v2/applications',
  '/api/%76%32/applications',
  '/api/v2/%61pplications',
  '/API/V2/applications',
  '/api/V2/applications',
  '/api/frontend/%252e%252e/v2/applications',
  '/api/frontend/%c0%ae%c0%ae/v2/applications',
  '/api/frontend/..%c0%afv2/applications',
  '/api/frontend/..%00/v2/applications',
  '/api/v2%00/applications',
  '/api/v2/applications%00/api/frontend/',
  '/api/frontend/#/../../v2/applications',
  '/api/v2/applications#/api/frontend/',
  '/api/frontend/?/../../v2/applications',
  '/api/v2/applications/../../frontend/telemetry',
  '/api/v2/applications/..%2f..%2f..%2fapi%2ffrontend%2fx',
  '/api/v2\t/applications',
  '\\api\\v2\\applications',
  'api/v2/applications',
  '/api/frontend/\u00ff/../../v2/applications',
  'http://localhost/api/v2/applications',
  'http://localhost//api/v2/applications',
  'http://localhost/api/frontend/../v2/applications',
  'http://localhost/api/frontend/%2e%2e/v2/applications',
  'http://x/api/frontend/@localhost/../../../api/v2/applications',
  'http://localhost\\@x/api/v2/applications',
  'http:///api/v2/applications',
  'http:/api/v2/applications',
  'HTTP://LOCALHOST/api/v2/applications',
  'https://localhost:443/api/v2/applications',
  'http://localhost?/api/v2/applications',
  'http://localhost#/api/frontend//../../v2/applications',
  '*',
];

/** Spellings in which a feature name leads back to an allowed path, because a name can be any text. */
const named = [
  '..%2f..%2f..%2f..%2f..%2fapi%2ffrontend%2fx',
  'x%2f..%2f..%2f..%2f..%2f..%2f..%2fapi%2ffrontend%2fx',
  '%2e%2e%2F%2e%2e%2F%2e%2e%2F%2e%2e%2F%2e%2e%2Fapi%2Ffrontend%2Fx',
  '..%5c..%5c..%5c..%5c..%5capi%5cfrontend%5cx',
  '..;%2f..;%2f..;%2f..;%2f..;%2fapi%2ffrontend%2fx',
];

const targets = () => [...listed, ...named.map((name) => `/api/v2/applications/${application}/features/${name}`)];

/** Time limit for a response, in ms. */
const waitMs = 300;

async function sendHttp1(port: number, target: string): Promise<void> {
  const client = await RawClient.openTls(port);
  client.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${access}\r\n\r\n`);
  const answered = client.status().catch(() => 0);
  await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, waitMs))]);
  client.close();
}

async function sendHttp2(port: number, target: string): Promise<void> {
  const fields = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', target],
    [':authority', 'localhost'],
    ['authorization', `Bearer ${access}`],
  ] as const;
  (await sendRawHttp2(port, rawHttp2(fields), waitMs))();
}

/** Spellings of the path `/metrics`. */
const metrics = [
  '/metrics',
  '/metrics?x',
  '/metrics/',
  '//metrics',
  '/./metrics',
  '/x/../metrics',
  '/x/..%2fmetrics',
  '/metrics%3f',
  '/metrics%00',
  '/metrics;x',
  '/metrics#x',
  '/%6detrics',
  '/METRICS',
  '\\metrics',
  'http://localhost/metrics',
  'http://localhost//metrics',
  'http://localhost/x/..%5cmetrics',
];

async function readBody(port: number, target: string): Promise<{ target: string; status: number; body: string }> {
  const client = await RawClient.openTls(port);
  client.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const { status, body } = await client.read();
  client.close();
  return { target, status, body: body.toString() };
}

/** Returns the number of requests that reached a route of the management API, whatever the response. */
const reached = () => countRequests(service, (route) => route.startsWith('/api/v2/'));

for (const kind of proxyKinds)
  needing(kind).describe(kind, () => {
    test('the proxy forwards paths that no rule matches', async () => {
      const proxy = await startProxy(kind, freshDirectory(), service);
      for (const send of [sendHttp1, sendHttp2]) {
        const before = await reached();
        await send(proxy.port, '/api/v2/applications');
        expect(await reached()).toBe(before + 1);
      }
      await proxy.stop();
    });

    test('the proxy denies GET /metrics to clients, whatever the spelling of the path', async () => {
      const proxy = await startProxy(kind, freshDirectory(), service);
      const responses = await Promise.all(metrics.map((target) => readBody(proxy.port, target)));
      expect(responses.filter(({ body }) => body.includes('flagmeter_'))).toEqual([]);
      expect(responses[0]).toMatchObject({ status: 404 });
      await proxy.stop();
    });

    describe.each(['denies', 'admits'] as const)('a rule that %s a prefix', (rule) => {
      let proxy: RunningProxy;
      beforeAll(async () => {
        const place = places[kind];
        const lines = kind === 'nginx' ? rules[rule].nginx : `${place}\n    ${rules[rule][kind]}`;
        proxy = await startProxy(kind, freshDirectory(), service, { replace: { [place]: lines } });
      });
      afterAll(() => proxy?.stop());

      test.each([
        ['HTTP/1.1', sendHttp1],
        ['HTTP/2', sendHttp2],
      ] as const)('the proxy forwards no denied path over %s', async (_, send) => {
        const before = await reached();
        const passed: string[] = [];
        let count = before;
        for (const target of targets()) {
          await send(proxy.port, target);
          const now = await reached();
          if (now !== count) passed.push(target);
          count = now;
        }
        expect(passed).toEqual([]);
      });
    });
  });
