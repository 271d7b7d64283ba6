import { beforeAll, describe, expect, test } from 'vitest';
import { createApplication, createKey, token } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { switchedStorage } from '../support/postgres-away.ts';
import { startLocal } from '../support/service.ts';

const storage = switchedStorage();
const service = opened(() => startLocal({ storage }));
let bearer: string;
let frontendKey: string;

beforeAll(async () => {
  bearer = await token(service.http, service.credentials);
  const application = await createApplication(service.http, bearer, { name: 'shop' });
  frontendKey = (await createKey(service.http, bearer, application, 'Frontend')).key;
  storage.away = true;
});

const call = (path: string, init: RequestInit = {}) =>
  fetch(`http://${service.http}${path}`, { redirect: 'manual', ...init });
const form = (body: string) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});

describe('the service without PostgreSQL', () => {
  test.each([
    ['/connect/token', form('grant_type=client_credentials')],
    ['/connect/introspect', form('token=x')],
    ['/connect/revocation', form('token=x')],
    ['/connect/deviceauthorization', form('client_id=x')],
    ['/connect/userinfo', { headers: { authorization: 'Bearer x' } }],
  ])('%s sends an OAuth error while PostgreSQL is unreachable', async (path, init) => {
    const response = await call(path, init);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: expect.stringMatching(/PostgreSQL is not available/),
    });
  });

  test.each(['/connect/authorize?client_id=x', '/connect/device', '/connect/endsession', '/console/callback'])(
    '%s shows an error page while PostgreSQL is unreachable',
    async (path) => {
      const response = await call(path);
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('2');
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      expect(await response.text()).toMatch(/PostgreSQL is not available/);
    },
  );

  test.each([
    ['/api/v2/applications', {}],
    ['/api/v2/status', {}],
    ['/api/account/invalidate-token', { method: 'POST' }],
    ['/console/session', {}],
  ])('%s sends a problem with an error code while PostgreSQL is unreachable', async (path, init) => {
    const response = await call(path, { ...init, headers: { authorization: `Bearer ${bearer}` } });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.json()).toMatchObject({ code: 'postgres_unavailable' });
  });

  test.each([
    '/.well-known/openid-configuration',
    '/.well-known/jwks.json',
    '/connect/openapi.json',
    '/api/v2/openapi.json',
    '/swagger/v2/swagger.json',
    '/healthz',
    '/readyz',
    '/metrics',
    '/',
  ])('%s is available while PostgreSQL is unreachable', async (path) => {
    expect((await call(path)).status).toBe(200);
  });

  test('the service accepts packets while PostgreSQL is unreachable', async () => {
    const packet = { k: frontendKey, e: 'Production', f: { checkout: { on: [1] } } };
    const headers = { 'content-type': 'application/json', origin: 'https://shop.example' };
    const response = await call('/api/frontend/telemetry', { method: 'POST', headers, body: JSON.stringify(packet) });
    expect(response.status).toBe(202);
  });
});

test('the service responds to a preflight without waiting for PostgreSQL', async () => {
  expect((await call('/connect/userinfo', { method: 'OPTIONS' })).status).toBe(204);
});
