import { beforeAll, describe, expect, test } from 'vitest';
import { createApplication, createKey, token } from '../support/binary.ts';
import { type LocalService, startLocal } from '../support/service.ts';

let service: LocalService;
/** Credentials that are valid at one host, and must be rejected at the other hosts. */
const credentials: Record<string, string> = {};
let accessToken = '';
let frontendKey = '';

beforeAll(async () => {
  service = await startLocal();
  const { http } = service;
  accessToken = await token(http, service.credentials);
  const application = await createApplication(http, accessToken, { name: 'shop' });
  for (const type of ['Frontend', 'Mobile', 'Backend'] as const)
    credentials[`a ${type} key`] = (await createKey(http, accessToken, application, type)).key;
  frontendKey = credentials['a Frontend key'] ?? '';
  credentials['a client secret'] = service.credentials.clientSecret;
  credentials['a client id'] = service.credentials.clientId;
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`http://${service.http}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const report = () => ({ environment: 'Production', time: new Date().toISOString(), stats: [] });
const packet = { e: 'Production', f: { checkout: { on: [1] } } };
const origin = 'https://shop.example.com';

describe('the metrics host', () => {
  const secrets = (): [string, string][] => [
    ['an access token', accessToken],
    ['a client secret', service.credentials.clientSecret],
    ['a client id', service.credentials.clientId],
  ];

  test.each<[string, (text: string) => Promise<Response>, number, string]>([
    [
      'as the key of a packet',
      (k) => post('/api/frontend/telemetry', { ...packet, k }, { origin }),
      404,
      'unknown_key',
    ],
    ['as the key of a usage report', (appKey) => post('/api/usage/stats', { ...report(), appKey }), 404, 'unknown_key'],
    ['as the key of a metrics report', (appKey) => post('/api/metrics', { ...report(), appKey }), 404, 'unknown_key'],
    [
      'as the key of a request for an identity',
      (key) => post('/api/frontend/identities', { identity: 'ada' }, { authorization: key }),
      401,
      'unknown_backend_key',
    ],
    [
      'as the bearer token of a request for an identity',
      (key) => post('/api/frontend/identities', { identity: 'ada' }, { authorization: `Bearer ${key}` }),
      401,
      'unknown_backend_key',
    ],
  ])('the metrics host rejects credentials of the management API %s', async (_, ask, status, code) => {
    for (const [name, text] of secrets()) {
      const response = await ask(text);
      // An access token is longer than any application key.
      const expected = status === 404 && text === accessToken ? [400, 'invalid_body'] : [status, code];
      const { code: found } = (await response.json()) as { code: string };
      expect([name, response.status, found]).toEqual([name, ...expected]);
    }
  });

  test('the metrics host ignores an access token in a request with a valid application key', async () => {
    const bearer = { origin, authorization: `Bearer ${accessToken}` };
    expect((await post('/api/frontend/telemetry', { ...packet, k: frontendKey }, bearer)).status).toBe(202);
    expect((await post('/api/frontend/telemetry', packet, bearer)).status).toBe(400);
    expect((await post('/api/usage/stats', report(), bearer)).status).toBe(400);
  });
});

describe('the management API', () => {
  test.each(['a Frontend key', 'a Mobile key', 'a Backend key', 'a client secret', 'a client id'])(
    'the management API does not accept %s as a token',
    async (name) => {
      const text = credentials[name]!;
      for (const authorization of [`Bearer ${text}`, text, `Basic ${Buffer.from(`x:${text}`).toString('base64')}`]) {
        for (const path of ['/api/v2/applications', '/connect/userinfo']) {
          const response = await fetch(`http://${service.http}${path}`, { headers: { authorization } });
          expect([path, response.status]).toEqual([path, 401]);
          expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
        }
      }
      const form = { grant_type: 'client_credentials', client_id: text, client_secret: text };
      const body = new URLSearchParams({ ...form, scope: 'openid flagmeter' });
      expect((await fetch(`http://${service.http}/connect/token`, { method: 'POST', body })).status).toBe(401);
    },
  );
});

test('no endpoint accepts a token in the query', async () => {
  for (const path of ['/api/v2/users/me', '/connect/userinfo']) {
    const response = await fetch(`http://${service.http}${path}?access_token=${accessToken}`);
    expect([path, response.status]).toEqual([path, 401]);
  }
});

test('every endpoint in the discovery document exists', async () => {
  const document = await fetch(`http://${service.http}/.well-known/openid-configuration`);
  const metadata = (await document.json()) as Record<string, unknown>;
  expect(metadata['issuer']).toBe(`http://${service.http}`);
  const named = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name));
  expect(named).toHaveLength(8);
  for (const [name, url] of named) {
    const { status } = await fetch(String(url), { redirect: 'manual' });
    expect([name, status === 404]).toEqual([name, false]);
  }
});
