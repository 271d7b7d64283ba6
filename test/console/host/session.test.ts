import { describe, expect, test } from 'vitest';
import { redirectUris, verifier } from '../../auth/sign-in-fixture.ts';
import { token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { ownPage } from './console-browser.ts';
import { hourMs, listSignIns, openConsole, readUserId } from './console-fixture.ts';

const fixture = opened(openConsole);

describe('GET /console/session', () => {
  test('GET /console/session returns the signed-in user and the end of the session', async () => {
    const browser = await fixture.signedIn();
    const response = await browser.ask('GET', '/console/session');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { user, expiresAt } = (await response.json()) as { user: object; expiresAt: string };
    expect(user).toEqual({
      id: expect.stringMatching(/^user_/),
      email: fixture.admin.email,
      preferences: { timeZone: null, columns: {}, favourites: [] },
      name: expect.any(String),
      role: 'Admin',
      teams: [fixture.service.credentials.teamId],
      primaryTeam: fixture.service.credentials.teamId,
      teamRoles: { [fixture.service.credentials.teamId]: 'Admin' },
    });
    expect(Date.parse(expiresAt) - fixture.clock.now()).toBe(12 * hourMs);
  });

  test('GET /console/session returns no user if there is no session', async () => {
    const response = await fixture.consoleBrowser().ask('GET', '/console/session');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ user: null, expiresAt: null });
  });
});

describe('the cookie', () => {
  test.each<readonly [what: string, headers: Record<string, string>, status: number]>([
    ['from a page of the console', {}, 200],
    ['without the header of the console', { 'flagmeter-console': '' }, 401],
    ['with another value of the header', { 'flagmeter-console': 'true' }, 401],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 401],
    ['from another port of the same machine', { 'sec-fetch-site': 'same-site' }, 401],
    ['from the address bar', { 'sec-fetch-site': 'none' }, 401],
    ['from two sites', { 'sec-fetch-site': 'same-origin, cross-site' }, 401],
    ['from a client that does not name a site', { 'sec-fetch-site': '' }, 401],
    ['next to an invalid token', { authorization: 'Bearer x' }, 401],
    ['next to another scheme', { authorization: 'Basic eDp5' }, 401],
  ])('a session cookie sent %s (%j) gets status %i', async (_, headers, status) => {
    const browser = await fixture.signedIn();
    const sent = Object.entries({ ...ownPage, ...headers }).filter(([, value]) => value !== '');
    for (const [method, path] of [
      ['GET', '/api/v2/users/me'],
      ['GET', '/console/session'],
      ['PATCH', `/api/v2/users/${await readUserId(browser)}`],
    ] as const) {
      const body = method === 'PATCH' ? { body: JSON.stringify({ name: 'Ada' }) } : {};
      const response = await browser.go(path, { headers: Object.fromEntries(sent), ...body }, method);
      expect([path, response.status]).toEqual([path, status]);
      if (response.status === 401) expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  test('a valid token takes precedence over the session cookie', async () => {
    const browser = await fixture.signedIn(fixture.outsider);
    const { http, credentials } = fixture.service;
    const authorization = `Bearer ${await token(http, credentials)}`;
    const response = await browser.ask('GET', '/api/v2/users/me', { headers: { authorization } });
    expect(await response.json()).toMatchObject({ id: credentials.clientId });
  });

  test('a request with two session cookies is refused, because another site might have planted one of them', async () => {
    const browser = await fixture.signedIn();
    const outsider = await fixture.signedIn(fixture.outsider);
    const [name, value] = browser.session!;
    for (const values of [
      [value, outsider.session![1]],
      [outsider.session![1], value],
    ]) {
      const cookie = values.map((each) => `${name}=${each}`).join('; ');
      const response = await fixture.consoleBrowser().go('/api/v2/users/me', { headers: { ...ownPage, cookie } });
      expect(response.status).toBe(401);
    }
  });

  test.each([
    ['an empty value', () => ''],
    ['an unknown session id', () => `${'x'.repeat(22)}.${'y'.repeat(43)}`],
    ['another secret', (value: string) => value.replace(/\..*/, `.${'y'.repeat(43)}`)],
    ['additional characters', (value: string) => `${value}x`],
    ['the public key of the session', (_: string, key: string) => key],
  ])('a session cookie is refused if it has %s', async (_, forged) => {
    const browser = await fixture.signedIn();
    const [name, value] = browser.session!;
    const [{ sessions }] = (await listSignIns(browser)) as [Awaited<ReturnType<typeof listSignIns>>[0]];
    browser.cookies.set(name, forged(value, sessions[0]!.id));
    expect(await browser.status()).toBe(401);
    expect(await browser.who()).toBeNull();
    browser.cookies.set(name, value);
    expect(await browser.status()).toBe(200);
  });

  test('a session cookie authorises only the management API', async () => {
    const browser = await fixture.signedIn();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [method, path, status] of [
      ['POST', '/api/account/invalidate-token', 401],
      ['GET', '/connect/userinfo', 401],
      ['POST', '/connect/introspect', 401],
      ['POST', '/connect/revocation', 401],
      ['POST', '/api/frontend/identities', 401],
    ] as const) {
      const body = path.startsWith('/connect/') ? 'token=x' : '{"identity":"x"}';
      const type = path.startsWith('/connect/') ? form : { 'content-type': 'application/json' };
      const sent = { headers: { ...ownPage, ...type }, ...(method === 'POST' && { body }) };
      expect([path, (await browser.go(path, sent, method)).status]).toEqual([path, status]);
    }
    expect(await browser.status()).toBe(200);
  });
});

describe('requests of other pages', () => {
  test('a form post from another page is refused with any content type', async () => {
    const browser = await fixture.signedIn();
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const response = await browser.go('/api/v2/applications', { headers, body: '{"name":"x"}' }, 'POST');
      expect(response.status).toBe(401);
    }
  });

  test.each(['https://evil.example', 'http://127.0.0.1:1', 'null', 'own'])(
    'a preflight from %s allows neither the console request header nor cookies',
    async (from) => {
      const origin = from === 'own' ? `http://${fixture.service.http}` : from;
      for (const path of ['/api/v2/users/me', '/console/session', '/console/sign-in']) {
        const headers = {
          origin,
          'access-control-request-method': 'DELETE',
          'access-control-request-headers': 'flagmeter-console',
        };
        const response = await fixture.consoleBrowser().go(path, { headers }, 'OPTIONS');
        expect(response.headers.get('access-control-allow-credentials')).toBeNull();
        expect(response.headers.get('access-control-allow-headers') ?? '').not.toMatch(/flagmeter|\*/);
        if (path.startsWith('/console')) expect(response.headers.get('access-control-allow-origin')).toBeNull();
      }
    },
  );
});

describe('the kinds of sessions are separate', () => {
  const redirect_uri = () => `http://${fixture.service.http}/console/callback`;
  const post = (fields: Record<string, string>) =>
    fixture
      .consoleBrowser()
      .go(
        '/connect/token',
        {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(fields).toString(),
        },
        'POST',
      );

  test('the token endpoint does not exchange codes of the console', async () => {
    const browser = fixture.consoleBrowser();
    const callback = await browser.authorize(await browser.begin(), fixture.admin);
    const code = callback.searchParams.get('code')!;
    const response = await post({
      grant_type: 'authorization_code',
      client_id: 'flagmeter-console',
      code,
      redirect_uri: redirect_uri(),
      code_verifier: 'v'.repeat(43),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'unauthorized_client' });
    expect((await browser.go(callback)).status).toBe(303);
  });

  test.each(['flagmeter-console', 'flagmeter-cli'])(
    'a session cookie cannot refresh a token of the client %s',
    async (client_id) => {
      const browser = await fixture.signedIn();
      const [, value] = browser.session!;
      for (const refresh_token of [value, `fm_refresh_${value}`]) {
        const response = await post({ grant_type: 'refresh_token', client_id, refresh_token });
        expect(response.status).toBe(400);
      }
      expect(await browser.status()).toBe(200);
    },
  );

  test('the console does not accept a refresh token as a session cookie', async () => {
    const { admin, clientId } = fixture;
    const page = await fixture.signIn(fixture.newBrowser(), {}, admin);
    const code = page.location!.searchParams.get('code')!;
    const response = await post({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUris.web,
    });
    const { refresh_token } = (await response.json()) as { refresh_token: string };
    const browser = await fixture.signedIn();
    const [name] = browser.session!;
    for (const value of [refresh_token, refresh_token.replace('fm_refresh_', '')]) {
      browser.cookies.set(name, value);
      expect(await browser.status()).toBe(401);
    }
    expect((await post({ grant_type: 'refresh_token', client_id: clientId, refresh_token })).status).toBe(200);
  });
});
