import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { createUser } from '../../src/accounts/users.ts';
import { issueIdToken } from '../../src/auth/oauth/tokens.ts';
import { browse, openSessionFixture, redirectUri, type SessionFixture, type Tokens } from './session-fixture.ts';

const path = '/connect/endsession';

/** Opens two sessions of one browser's sign-in, and a session of another sign-in. */
async function openSignedIn() {
  const fixture = await openSessionFixture();
  const browser = await fixture.signIn();
  const shop = await fixture.tokens({ signIn: browser.key });
  const app = await fixture.tokens({ signIn: browser.key }, fixture.app);
  const elsewhere = await fixture.tokens();
  return { ...fixture, browser, issued: { shop, app, elsewhere } };
}

function query(parameters: Record<string, string>): string {
  return `${path}?${new URLSearchParams(parameters)}`;
}

/** Returns the names of the valid access tokens. */
async function good({ call }: Pick<SessionFixture, 'call'>, tokens: Record<string, Tokens>): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(tokens).map(async ([name, { access_token }]) => ((await call(access_token)) === 200 ? name : '')),
  );
  return found.filter((name) => name !== '');
}

describe('a sign-out with an ID token', () => {
  test.each(['GET', 'POST'])('a sign-out with an ID token ends the sign-in and its sessions (%s)', async (method) => {
    const fixture = await openSignedIn();
    const { issued, browser, store, refresh, audited, user } = fixture;
    expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
    const parameters = { id_token_hint: issued.shop.id_token };
    const response =
      method === 'GET'
        ? await browse(fixture, query(parameters))
        : await browse(fixture, path, {
            method,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: new URLSearchParams(parameters).toString(),
          });
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(response.text).toContain('You are signed out');
    expect(await good(fixture, issued)).toEqual(['elsewhere']);
    expect(await refresh(issued.shop.refresh_token)).toMatchObject({ status: 400 });
    expect(store.signIns.get(browser.key)).toBeUndefined();
    expect(audited('session.ended')).toMatchObject([{ actor: { type: 'user', id: user.id } }]);
  });

  test('a sign-out redirects the user to a registered address, with the state', async () => {
    const { issued, ...fixture } = await openSignedIn();
    const back = { post_logout_redirect_uri: redirectUri, state: 'a b' };
    const response = await browse(fixture, query({ id_token_hint: issued.shop.id_token, ...back }));
    expect(response).toMatchObject({
      status: 303,
      headers: { location: `${redirectUri}?state=a+b`, 'cache-control': 'no-store' },
    });
  });

  test.each([
    'https://evil.example/callback',
    `${redirectUri}/`,
    `${redirectUri}?x=1`,
    'https://shop.example/callback@evil.example',
    'javascript:alert(1)',
    '//evil.example',
  ])('a sign-out does not redirect to the unregistered address %s', async (uri) => {
    const { issued, ...fixture } = await openSignedIn();
    const parameters = { id_token_hint: issued.shop.id_token, post_logout_redirect_uri: uri };
    const response = await browse(fixture, query(parameters));
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('location');
    expect(await good(fixture, issued)).toEqual(['elsewhere']);
  });

  test('a sign-out accepts an expired ID token', async () => {
    const { issued, clock, refresh, ...fixture } = await openSignedIn();
    clock.advance(5 * 24 * 3_600_000);
    expect(await browse(fixture, query({ id_token_hint: issued.shop.id_token }))).toMatchObject({ status: 200 });
    expect(await refresh(issued.app.refresh_token)).toMatchObject({ status: 400 });
    expect(await refresh(issued.elsewhere.refresh_token)).toMatchObject({ status: 200 });
  });

  test('a sign-out with an ID token does not end the sign-in of another user in the browser', async () => {
    const { issued, signIn, store, directory, team, ...fixture } = await openSignedIn();
    const bob = await createUser(directory, {
      email: 'bob@example.com',
      name: 'Bob',
      role: 'User',
      teams: [team.id],
      passwordHash: '',
    });
    const own = await signIn();
    const foreign = await signIn(bob);
    for (const { cookie } of [own, foreign])
      await browse(fixture, query({ id_token_hint: issued.shop.id_token }), { headers: { cookie } });
    expect(store.signIns.get(own.key)).toBeUndefined();
    expect(store.signIns.get(foreign.key)).toBeDefined();
  });

  test.each<[string, (tokens: Tokens) => Record<string, string>]>([
    ['a malformed token', () => ({ id_token_hint: 'a.b.c' })],
    ['an access token', ({ access_token }) => ({ id_token_hint: access_token })],
    ['a forged token', ({ id_token }) => ({ id_token_hint: `${id_token.slice(0, -86)}${'A'.repeat(86)}` })],
    ['a token of another client', ({ id_token }) => ({ id_token_hint: id_token, client_id: 'flagmeter-cli' })],
  ])('a sign-out with %s as the ID token ends no session', async (_, getParameters) => {
    const { issued, ...fixture } = await openSignedIn();
    const parameters = { ...getParameters(issued.shop), post_logout_redirect_uri: redirectUri };
    expect(await browse(fixture, query(parameters))).toMatchObject({ status: 400 });
    expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
  });
});

test('an ID token of another issuer signs no one out, even with a valid signature', async () => {
  const { issued, settings, user, shop, ...fixture } = await openSignedIn();
  const signedIn = {
    user,
    clientId: shop.client.clientId,
    session: String(decodeJwt(issued.shop.id_token)['sid']),
    scopes: ['openid'],
    authTime: 0,
    nonce: null,
  };
  const hint = (issuer: string) => issueIdToken({ ...settings, issuer }, signedIn);
  const statusFor = async (id_token_hint: string) => (await browse(fixture, query({ id_token_hint }))).status;
  expect(await statusFor(await hint('https://other.example'))).toBe(400);
  expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
  expect(await statusFor(await hint(settings.issuer))).toBe(200);
});

describe('a sign-out with an access token', () => {
  test.each(['GET', 'POST'])('a sign-out with an access token ends the sign-in of the token (%s)', async (method) => {
    const { issued, store, browser, ...fixture } = await openSignedIn();
    const headers = { authorization: `Bearer ${issued.app.access_token}` };
    expect(await browse(fixture, path, { method, headers })).toMatchObject({ status: 204 });
    expect(await good(fixture, issued)).toEqual(['elsewhere']);
    expect(store.signIns.get(browser.key)).toBeUndefined();
  });

  test('concurrent sign-outs with an access token end the sign-in once, with one audit log entry', async () => {
    const { issued, ...fixture } = await openSignedIn();
    const headers = { authorization: `Bearer ${issued.app.access_token}` };
    const replies = await Promise.all([1, 2, 3].map(() => browse(fixture, path, { method: 'POST', headers })));
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 401, 401]);
    expect(fixture.audited('session.ended')).toHaveLength(1);
  });

  test('a sign-out with a token of an API key invalidates only that token', async () => {
    const fixture = await openSessionFixture();
    const { apiKey, clientSecret } = await fixture.addClient('User');
    const form = { grant_type: 'client_credentials', scope: 'openid flagmeter' };
    const credentials = { client_id: apiKey.clientId, client_secret: clientSecret };
    const { json } = await fixture.post('/connect/token', { ...form, ...credentials });
    const headers = { authorization: `Bearer ${json.access_token}` };
    expect(await browse(fixture, path, { method: 'POST', headers })).toMatchObject({ status: 204 });
    expect(await fixture.call(json.access_token)).toBe(401);
  });

  test.each(['a.b.c', 'x'])('a sign-out with the invalid access token %s ends no session', async (token) => {
    const { browser, store, ...fixture } = await openSignedIn();
    const headers = { authorization: `Bearer ${token}`, cookie: browser.cookie };
    const response = await browse(fixture, path, { method: 'POST', headers });
    expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
    expect(store.signIns.get(browser.key)).toBeDefined();
  });
});

describe('a sign-out with only the cookie of a browser', () => {
  test('a sign-out with only a cookie asks the user to confirm, because any page can start it', async () => {
    const { issued, browser, ...fixture } = await openSignedIn();
    const { cookie } = browser;
    const response = await browse(fixture, path, { headers: { cookie } });
    expect(response).toMatchObject({ status: 200, headers: { 'x-frame-options': 'DENY' } });
    expect(response.text).toContain('ada@example.com');
    expect(response.text).toContain('<form method="post">');
    expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
  });

  test('a confirmed sign-out ends the sign-in and its sessions', async () => {
    const { issued, browser, store, ...fixture } = await openSignedIn();
    const headers = {
      cookie: browser.cookie,
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    };
    const back = { client_id: fixture.shop.client.clientId, post_logout_redirect_uri: redirectUri };
    const response = await browse(fixture, query(back), { method: 'POST', headers });
    expect(response).toMatchObject({ status: 303, headers: { location: expect.stringContaining(redirectUri) } });
    expect(await good(fixture, issued)).toEqual(['elsewhere']);
    expect(store.signIns.get(browser.key)).toBeUndefined();
  });

  test('concurrent confirmations of a sign-out write one audit log entry', async () => {
    const { browser, ...fixture } = await openSignedIn();
    const headers = { cookie: browser.cookie, 'sec-fetch-site': 'same-origin' };
    await Promise.all([1, 2, 3].map(() => browse(fixture, path, { method: 'POST', headers })));
    expect(fixture.audited('session.ended')).toHaveLength(1);
  });

  test.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
  ])('the confirmation of a sign-out from another site is rejected: %j', async (headers) => {
    const { issued, browser, ...fixture } = await openSignedIn();
    const request = { method: 'POST', headers: { cookie: browser.cookie, ...headers } };
    expect((await browse(fixture, path, request)).text).toContain('Sign out?');
    expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
  });
});

describe('a sign-out without a token or a sign-in', () => {
  test.each([{}, { cookie: `__Host-flagmeter=${'A'.repeat(43)}.${'A'.repeat(43)}` }])(
    'a sign-out without a token or a sign-in ends no session: %j',
    async (headers) => {
      const { issued, ...fixture } = await openSignedIn();
      expect((await browse(fixture, path, { headers })).text).toContain('You are signed out');
      expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
      expect(fixture.audited('session.ended')).toEqual([]);
    },
  );

  test('a sign-out without a sign-in does not redirect, even to a registered address', async () => {
    const fixture = await openSessionFixture();
    const back = { client_id: fixture.app.client.clientId, post_logout_redirect_uri: redirectUri };
    expect(await browse(fixture, query(back))).toMatchObject({ status: 200 });
  });
});

test('the sign-out page reports a failed sign-out while the store accepts no writes', async () => {
  const { issued, health, ...fixture } = await openSignedIn();
  health.ready = false;
  const response = await browse(fixture, query({ id_token_hint: issued.shop.id_token }));
  expect(response.status).toBe(503);
  expect(response.text).toContain('You are not signed out');
  expect(await good(fixture, issued)).toEqual(['shop', 'app', 'elsewhere']);
});
