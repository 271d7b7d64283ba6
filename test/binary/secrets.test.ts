import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConsoleBrowser } from '../console/host/console-browser.ts';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { readOpenApi } from '../support/openapi.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { encode, usageReport } from '../support/report-messages.ts';
import { runBinary } from '../support/run-binary.ts';
import { secretsIn, useLink } from '../support/secrets-in.ts';
import { tellCommands } from '../support/tell-commands.ts';
import { bodies, forms } from '../support/text-everywhere.ts';

/**
 * Known secrets are sent to every route. After that, no output of the executable may contain a secret. The outputs are
 * the log at its lowest level, standard output, metrics, and all files except the store.
 */

/** A value that is sent in fields for secrets, for names of people, and in other fields. */
const canary = `canary-${randomBytes(12).toString('hex')}`;
/** A name that a caller gives. The audit log and commands show it; the log and the metrics do not. */
const named = `named-${randomBytes(12).toString('hex')}`;
/** A person for whom an id is minted, and whose data is then deleted. */
const person = `person-${randomBytes(12).toString('hex')}@example.com`;

const secrets = new Map<string, string>([
  ['the canary', canary],
  ['a person', person],
]);

/** Keys of frontends are not secret, and can be shown again. Even so, the log and the metrics omit them. */
const names = new Map([['a name', named]]);
const isPublic = (secret: string) => /^fm_(?:fe|mo)_/.test(secret);

let data: string;
let audit: string;
let service: Binary;
let ops: string;
let outside: Outside;
let credentials: Credentials;
let application: string;
const keys: Record<string, string> = {};
/** The collected output of commands. */
let written = '';

beforeAll(async () => {
  data = join(freshDirectory(), 'data');
  audit = join(freshDirectory(), 'audit');
  credentials = await prepare(data);
  const limits = ['--api-rate', '0', '--token-rate', '0', '--slow-request', '1', '--slow-commit', '1'];
  const own = ['--log-level', 'debug', '--log-format', 'text', '--ops-listen', '127.0.0.1:0'];
  outside = await openOutside(note);
  const proxies = ['--trusted-proxies', 'loopback', '--proxy-header', 'forwarded', '--webhook-allow-private'];
  const all = [...own, ...limits, ...proxies, ...outside.args];
  service = await startBinary({ data, args: [...all, '--audit-export', audit] });
  ops = /\bops=(\S+)/.exec(service.line)![1]!;
  note('the password', credentials.adminPassword);
  note('the secret of the API key', credentials.clientSecret);
  const access = await bearer();
  application = await createApplication(service.http, access, { name: 'shop' });
  for (const type of ['Frontend', 'Mobile', 'Backend'] as const)
    keys[type] = (await createKey(service.http, access, application, type)).key;
  note('a Backend key', keys['Backend']!);
});

afterAll(async () => {
  if (service !== undefined) await stop(service);
  outside?.close();
});

function note(name: string, secret: string): void {
  const known = isPublic(secret) ? names : secrets;
  known.set(`${name} (${known.size})`, secret);
}

async function bearer(): Promise<string> {
  const access = await token(service.http, credentials);
  note('an access token', access);
  return access;
}

/** Collects the secrets in a response. */
function noteSecretsIn(response: unknown): void {
  for (const [name, value] of secretsIn(response)) note(name, value);
}

async function send(method: string, path: string, headers: Record<string, string>, body?: string) {
  const response = await fetch(`http://${service.http}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  try {
    noteSecretsIn(JSON.parse(text));
  } catch {
    // An HTML page, or an empty text.
  }
  return { status: response.status, text };
}

/** Returns every operation that an OpenAPI document describes, with an example of its body. */
async function listOperations(path: string) {
  const { operations } = readOpenApi(JSON.parse((await send('GET', path, {})).text));
  return [...operations].map(([name, { requestBody }]) => {
    const [method = '', route = ''] = name.split(' ');
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    const [example] = Object.values(media?.examples ?? {});
    return { method, route, type, example: media?.example ?? example?.value };
  });
}

const everywhere = {
  cookie: `session=${canary}; __Host-flagmeter-console=${canary}`,
  'idempotency-key': canary,
  origin: `https://${canary}.example`,
  referer: `https://shop.example/?token=${canary}`,
  forwarded: `for="_${canary}";by=${canary};host=${canary}`,
  'x-forwarded-for': canary,
  baggage: `user=${canary}`,
  'user-agent': canary,
  'x-api-key': canary,
};
const query = `?${['access_token', 'code', 'from', 'environment', 'cursor', canary].map((name) => `${name}=${canary}`).join('&')}`;

test.each(['/swagger/v2/swagger.json', '/connect/openapi.json', '/api/v2/openapi.json'])(
  'every operation of %s can be called with valid and invalid secrets',
  async (document) => {
    const operations = await listOperations(document);
    expect(operations.length).toBeGreaterThan(4);
    for (const { method, route, type, example } of operations) {
      const path = (text: string) => route.replaceAll(/\{\w+\}/g, text);
      // The application must exist until the last test.
      const known =
        method === 'DELETE' ? path(named) : route.replace('{id}', application).replaceAll(/\{\w+\}/g, named);
      const content = { 'content-type': type ?? 'application/json' };
      const all = { ...everywhere, ...content };
      const sent = (text: string) => {
        if (method === 'GET') return [undefined];
        return type?.includes('urlencoded') ? forms(text) : bodies(example, text);
      };
      for (const body of sent(canary)) {
        const basic = btoa(`${canary}:${canary}`);
        await send(method, `${path(canary)}${query}`, { ...all, authorization: `Bearer ${canary}` }, body);
        await send(method, `${known}${query}`, { ...all, authorization: `Basic ${basic}` }, body);
      }
      const authorization = `Bearer ${await bearer()}`;
      for (const body of [...sent(named), ...(example === undefined ? [] : [JSON.stringify(example)])])
        await send(method, known, { ...content, authorization }, body);
    }
  },
  120_000,
);

test('the tests create keys that are shown once, ids of people, and packets', async () => {
  const authorization = `Bearer ${keys['Backend']}`;
  const json = { 'content-type': 'application/json' };
  const minted = await send(
    'POST',
    '/api/frontend/identities',
    { ...json, authorization },
    JSON.stringify({ identity: person, claims: { mail: person } }),
  );
  expect(minted.status).toBe(200);
  const { instanceId } = JSON.parse(minted.text) as { instanceId: string };
  const packet = { e: 'Production', f: { checkout: { on: [1] } }, i: instanceId, u: person };
  for (const k of Object.values(keys)) {
    const { status } = await send(
      'POST',
      '/api/frontend/telemetry',
      { origin: 'https://shop.example' },
      JSON.stringify({ k, ...packet }),
    );
    expect([202, 404]).toContain(status);
  }
  const path = `/api/v2/applications/${application}/identities/${encodeURIComponent(person)}`;
  expect(
    (await send('GET', `${path}/exposures?environment=Production`, { authorization: `Bearer ${await bearer()}` }))
      .status,
  ).toBe(200);
  expect((await send('DELETE', path, { authorization: `Bearer ${await bearer()}` })).status).toBe(204);
  await send('GET', `/no/such/${canary}?key=${keys['Backend']}`, everywhere);
});

test('the tests send secrets in gRPC and gRPC-Web calls', async () => {
  const client = openClient(service.grpc);
  const metadata = { authorization: `Bearer ${canary}`, 'idempotency-key': canary, ua: canary };
  for (const appKey of [keys['Backend']!, canary]) {
    const message = encode('Usage.FeatureStat', { ...usageReport, appKey });
    for (const path of ['/Usage.Usage/SendStats', '/Metrics.Metrics/SendMetrics', `/Usage.Usage/${canary}`])
      for (const bytes of [message, message.subarray(0, 20), Buffer.from(canary)])
        await call(client, path, bytes, { metadata });
    const headers = { ...everywhere, 'content-type': 'application/grpc-web+proto' };
    await send('POST', '/Usage.Usage/SendStats', headers, message.toString('latin1'));
  }
  client.close();
});

test('the tests sign in to the console with right and wrong secrets', async () => {
  const policy = { secondFactor: 'optional' };
  await manage(service.http, await bearer(), 'PATCH', '/api/v2/sign-in-policy', 200, policy);
  const browser = new ConsoleBrowser(service);
  await browser.authorize(await browser.begin(), { email: person, password: canary }).catch(() => {});
  const page = await browser.begin();
  const { adminEmail: email, adminPassword: password } = credentials;
  const callback = await browser.authorize(page, { email, password });
  note('an authorization code', callback.searchParams.get('code')!);
  await browser.go(callback);
  for (const [name, value] of browser.cookies) note(`the cookie ${name}`, value);
  expect(await browser.who()).toBe(credentials.adminEmail);
  expect((await browser.ask('DELETE', '/console/session')).status).toBe(204);
});

test('the tests use links of invitations with right and wrong secrets', async () => {
  await useLink(service.http, await bearer(), named, note);
});

test('the tests create webhooks with secrets, and with URLs that contain credentials', async () => {
  const path = `/api/v2/teams/${credentials.teamId}/webhooks`;
  const access = await bearer();
  const inUrl = randomBytes(12).toString('hex');
  note('the URL of a webhook', inUrl);
  const url = `http://127.0.0.1:1/hooks/${inUrl}?key=${inUrl}`;
  const wanted = { name: named, url, events: ['key.leaked'] };
  const made = await manage(service.http, access, 'POST', path, 201, wanted);
  const { id, secret } = made as { id: string; secret: string };
  expect(secret).toMatch(/^whsec_/);
  note('the secret of a webhook', secret);
  note('the secret of a webhook, bare', secret.slice('whsec_'.length));
  noteSecretsIn(await manage(service.http, access, 'POST', `${path}/${id}/secret`, 200));
  await manage(service.http, access, 'POST', `${path}/${id}/test`, 201);
  const authorization = `Bearer ${randomBytes(12).toString('hex')}`;
  note('the credential of a webhook', authorization);
  await manage(service.http, access, 'PATCH', `${path}/${id}`, 200, { format: 'github', authorization });
  await manage(service.http, access, 'POST', `${path}/${id}/test`, 201);
  await expect.poll(() => service.stderr().match(/called a webhook/g)?.length ?? 0).toBeGreaterThan(1);
});

test('the tests run commands with secrets', async () => {
  written = await tellCommands(service, credentials, canary);
});

/** Lists every file below a directory, except the files of LMDB. */
function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(?:data|lock)\.mdb$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

test('no output of the executable contains a secret', async () => {
  const isInLog = () => service.stderr().includes('backup failed');
  await expect.poll(isInLog).toBe(true);
  const metrics = await (await fetch(`http://${ops}/metrics`)).text();
  const health = await (await fetch(`http://${ops}/readyz`)).text();
  const log = join(freshDirectory(), 'log');
  writeFileSync(log, service.stderr());
  const support = ['support', '--data', data, '--url', `http://${ops}`, '--log', log, '--out', '-'];
  const described = await runBinary(support);
  await stop(service);
  // The service exports the audit log at startup, and then each minute.
  const again = await startBinary({ data, args: ['--audit-export', audit] });
  await expect.poll(() => readdirSync(audit)).not.toEqual([]);
  await stop(again);
  const files = [...filesBelow(data), ...filesBelow(audit)];
  const places = new Map([
    ['the log', service.stderr() + again.stderr()],
    ['standard output', service.line],
    ['the metrics', metrics + health],
    ['the commands', written],
    ['the file for support', described.stdout],
    ['the traces', outside.sentTo('/v1/traces')],
    ['the usage for a collector', outside.sentTo('/v1/metrics')],
    ...files.map((path) => [path, readFileSync(path, 'latin1')] as const),
  ]);
  // These texts must be found, which proves that the output was searched.
  expect(places.get('the log')).toMatch(/ DEBUG request .*route=\/connect\/token/);
  expect(places.get('the log')).toMatch(/ WARN {2}slow request .*requestId=/);
  expect(places.get('the metrics')).toMatch(/^flagmeter_tokens_issued_total/m);
  expect(places.get('the traces')).toContain('/connect/token');
  expect(places.get('the usage for a collector')).toContain('checkout');
  expect(places.get('the file for support')).toMatch(/ DEBUG request .*route=\/connect\/token/);
  expect(places.get('the commands')).toContain('"version":"2.1.0"');
  expect(files.some((path) => path.startsWith(audit))).toBe(true);
  expect(secrets.size).toBeGreaterThan(50);
  const found = [...places].flatMap(([place, text]) => {
    const hidden = ['the log', 'standard output', 'the metrics', 'the traces'].includes(place)
      ? [...secrets, ...names]
      : secrets;
    return [...hidden].filter(([, secret]) => text.includes(secret)).map(([name]) => `${name} in ${place}`);
  });
  expect(found).toEqual([]);
});
