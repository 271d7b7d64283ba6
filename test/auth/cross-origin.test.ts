import { beforeAll, describe, expect, test } from 'vitest';
import { manage, token } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { openSignIn, redirectUris, verifier } from './sign-in-fixture.ts';
import { encode } from './test-browser.ts';

const fixture = opened(openSignIn);
let origin: string;
let access: string;
beforeAll(async () => {
  origin = `http://${fixture.service.http}`;
  access = await token(fixture.service.http, fixture.service.credentials);
});

const page = new URL(redirectUris.web).origin;
const form = 'application/x-www-form-urlencoded';

function preflight(path: string, from: string, method: string): Promise<Response> {
  const headers = { origin: from, 'access-control-request-method': method };
  return fetch(origin + path, { method: 'OPTIONS', headers });
}

const forPages: readonly [string, string][] = [
  ['/connect/token', 'POST'],
  ['/connect/revocation', 'POST'],
  ['/api/account/invalidate-token', 'POST'],
  ['/api/v2/applications', 'POST'],
  ['/api/v2/applications/x', 'PATCH'],
  ['/api/v2/users/me', 'GET'],
  ['/api/v2/teams/x/members/y', 'PUT'],
];

describe('a page at a redirect URI of a public client', () => {
  test.each(forPages)('a page of a public client can send requests to %s (%s)', async (path, method) => {
    const { status, headers } = await preflight(path, page, method);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(page);
    expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
    expect(headers.get('access-control-allow-headers')).toBe('authorization, content-type, if-match');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('vary')).toBe('Origin');
  });

  test('a page of a public client can complete PKCE and read all responses, including refusals', async () => {
    const signedIn = await fixture.signIn(fixture.newBrowser());
    const body = encode({
      grant_type: 'authorization_code',
      client_id: fixture.clientId,
      redirect_uri: redirectUris.web,
      code_verifier: verifier,
      code: signedIn.location?.searchParams.get('code') ?? '',
    });
    const ask = () =>
      fetch(`${origin}/connect/token`, { method: 'POST', headers: { 'content-type': form, origin: page }, body });
    const responses = [await ask(), await ask()];
    expect(responses.map(({ status }) => status)).toEqual([200, 400]);
    const { access_token: own } = (await responses[0]!.json()) as { access_token: string };
    for (const authorization of [`Bearer ${own}`, 'Bearer x'])
      responses.push(await fetch(`${origin}/api/v2/applications/none`, { headers: { origin: page, authorization } }));
    expect(responses.slice(2).map(({ status }) => status)).toEqual([401, 401]);
    for (const { headers } of responses) {
      expect(headers.get('access-control-allow-origin')).toBe(page);
      expect(headers.get('access-control-expose-headers')).toContain('retry-after');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('a page of a public client can invalidate the token of its user, and read the response', async () => {
    const own = await token(fixture.service.http, fixture.service.credentials);
    const headers = { origin: page, authorization: `Bearer ${own}` };
    const ask = () => fetch(`${origin}/api/account/invalidate-token`, { method: 'POST', headers });
    const responses = [await ask(), await ask()];
    expect(responses.map(({ status }) => status)).toEqual([200, 401]);
    for (const response of responses) expect(response.headers.get('access-control-allow-origin')).toBe(page);
  });

  test.each(['http://127.0.0.1', 'http://127.0.0.1:5173'])(
    'a page of a public client at the loopback origin %s can send requests to the token endpoint',
    async (from) => {
      const { headers } = await preflight('/connect/token', from, 'POST');
      expect(headers.get('access-control-allow-origin')).toBe(from);
    },
  );

  test('a page of the console can send requests to the token endpoint', async () => {
    const { headers } = await preflight('/connect/token', origin, 'POST');
    expect(headers.get('access-control-allow-origin')).toBe(origin);
  });

  test('a page of a public client loses access when the client is deleted', async () => {
    const { http, credentials } = fixture.service;
    const wanted = { name: 'Gone', redirectUris: ['https://gone.example/cb'], type: 'public' };
    const path = `/api/v2/teams/${credentials.teamId}/clients`;
    const { clientId } = (await manage(http, access, 'POST', path, 201, wanted)) as { clientId: string };
    const allowed = async () =>
      (await preflight('/connect/token', 'https://gone.example', 'POST')).headers.get('access-control-allow-origin');
    expect(await allowed()).toBe('https://gone.example');
    await manage(http, access, 'DELETE', `${path}/${clientId}`, 204);
    expect(await allowed()).toBeNull();
  });
});

describe('a page without permission', () => {
  test.each([
    'https://evil.example',
    'http://shop.example.com',
    'https://shop.example.com:8443',
    'https://sub.shop.example.com',
    'null',
    'com.example.shop:',
    'http://127.0.0.1.evil.example',
  ])('a page from %s cannot read responses of the service', async (from) => {
    for (const [path, method] of forPages) {
      const { status, headers } = await preflight(path, from, method);
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, null]);
      expect(headers.get('allow')).toContain(method);
    }
    const response = await fetch(`${origin}/api/v2/applications`, { headers: { origin: from } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });

  test('a page of a confidential client cannot read responses', async () => {
    const { http, credentials } = fixture.service;
    const wanted = { name: 'Server', redirectUris: ['https://server.example/cb'], type: 'confidential' };
    await manage(http, access, 'POST', `/api/v2/teams/${credentials.teamId}/clients`, 201, wanted);
    const { headers } = await preflight('/connect/token', 'https://server.example', 'POST');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test.each(['/connect/introspect', '/connect/authorize', '/connect/endsession', '/connect/device'])(
    'no page can read responses of %s',
    async (path) => {
      expect((await preflight(path, page, 'POST')).headers.get('access-control-allow-origin')).toBeNull();
    },
  );
});

test("an application's allowed origins are stored without a trailing slash", async () => {
  const { http } = fixture.service;
  const allowedOrigins = ['https://shop.example/', 'http://localhost:*/', 'null'];
  const kept = { allowedOrigins: ['https://shop.example', 'http://localhost:*', 'null'] };
  const made = (await manage(http, access, 'POST', '/api/v2/applications', 201, { name: 'S', allowedOrigins })) as {
    id: string;
  };
  expect(made).toMatchObject(kept);
  const path = `/api/v2/applications/${made.id}`;
  expect(await manage(http, access, 'PATCH', path, 200, { allowedOrigins })).toMatchObject(kept);
});
