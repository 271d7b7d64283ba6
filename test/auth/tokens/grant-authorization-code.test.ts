import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { deleteClient } from '../../../src/accounts/clients.ts';
import { createTeam } from '../../../src/accounts/teams.ts';
import { createUser } from '../../../src/accounts/users.ts';
import { patchUser } from '../../accounts/fixture.ts';
import { allScopes, openSessionFixture, redirectUri, type SessionFixture, verifier } from '../session-fixture.ts';

const noStore = { 'cache-control': 'no-store', 'content-type': 'application/json' };
const notValid = { status: 400, json: { error: 'invalid_grant', error_description: 'The code is not valid' } };

describe('the exchange of a valid code', () => {
  test('the exchange of a code returns an access token, a refresh token and an ID token', async () => {
    const { code, exchange, call, user, shop, clock } = await openSessionFixture();
    const response = await exchange(await code({ nonce: 'n-0S6_WzA2Mj' }));
    expect(response).toMatchObject({ status: 200, headers: noStore });
    expect(response.json).toEqual({
      access_token: expect.any(String),
      expires_in: 3600,
      token_type: 'Bearer',
      scope: allScopes,
      refresh_token: expect.stringMatching(/^fm_refresh_[\w-]{22}\.[\w-]{43}$/),
      id_token: expect.any(String),
    });
    expect(await call(response.json.access_token)).toBe(200);

    const iat = Math.floor(clock.now() / 1000);
    const common = { iss: 'https://auth.example', sub: user.id, iat, exp: iat + 3600, sid: expect.any(String) };
    expect(decodeJwt(response.json.access_token)).toEqual({
      ...common,
      aud: 'https://api.example',
      jti: expect.any(String),
      client_id: shop.client.clientId,
      scope: allScopes,
      role: 'Admin',
      team: user.teams,
      primaryTeam: user.primaryTeam,
      email: 'ada@example.com',
      name: 'Ada',
    });
    expect(decodeJwt(response.json.id_token)).toEqual({
      ...common,
      aud: shop.client.clientId,
      auth_time: 1_700_000_000,
      nonce: 'n-0S6_WzA2Mj',
      email: 'ada@example.com',
      email_verified: false,
    });
  });

  test('the ID token includes the e-mail address only with the scope email', async () => {
    const { tokens } = await openSessionFixture();
    expect(decodeJwt((await tokens({ scope: 'openid flagmeter' })).id_token)).not.toHaveProperty('email');
  });

  test('the API rejects a token without the scope of the API', async () => {
    const { tokens, call } = await openSessionFixture();
    expect(await call((await tokens({ scope: 'openid' })).access_token)).toBe(401);
  });

  test('a public client can exchange a code without a secret', async () => {
    const { tokens, app, call } = await openSessionFixture();
    expect(await call((await tokens({}, app)).access_token)).toBe(200);
  });

  test('a code can be exchanged for one minute', async () => {
    const { code, exchange, clock } = await openSessionFixture();
    const first = await code();
    const second = await code();
    clock.advance(59_999);
    expect(await exchange(first)).toMatchObject({ status: 200 });
    clock.advance(1);
    expect(await exchange(second)).toMatchObject(notValid);
  });
});

describe('an authorization code', () => {
  test('the replay of a code ends the session that the code started', async () => {
    const { code, exchange, refresh, call, audited, user } = await openSessionFixture();
    const text = await code();
    const { json: tokens } = await exchange(text);
    expect(await call(tokens.access_token)).toBe(200);
    expect(await exchange(text)).toMatchObject(notValid);
    expect(await call(tokens.access_token)).toBe(401);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(audited('authorization-code.reused')).toMatchObject([
      { actor: { type: 'anonymous' }, target: { id: user.id } },
    ]);
  });

  test('the replay of a code by another client, after a restart or after a refresh ends the session', async () => {
    const before = await openSessionFixture();
    const text = await before.code();
    const { json: tokens } = await before.exchange(text);
    const { json: refreshed } = await before.refresh(tokens.refresh_token);
    const { exchange, call, refresh, credentials, app, clock } = await before.restart();
    clock.advance(600_000);
    expect(await exchange(text, { client_secret: '', ...credentials(app) })).toMatchObject(notValid);
    expect(await call(refreshed.access_token)).toBe(401);
    expect(await refresh(refreshed.refresh_token)).toMatchObject({ status: 400 });
  });

  test('exactly one of several concurrent requests can exchange a code', async () => {
    const { code, exchange } = await openSessionFixture();
    const text = await code();
    const responses = await Promise.all([exchange(text), exchange(text), exchange(text)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});

describe('the binding of a code', () => {
  const other = 'w'.repeat(43);
  test.each<[string, (fixture: SessionFixture) => Record<string, string>]>([
    ['the client', ({ credentials, app }) => ({ client_secret: '', ...credentials(app) })],
    ['the redirect URI', () => ({ redirect_uri: `${redirectUri}/` })],
    ['the case of the redirect URI', () => ({ redirect_uri: 'https://SHOP.example/callback' })],
    ['the PKCE verifier', () => ({ code_verifier: other })],
    ['the end of the PKCE verifier', () => ({ code_verifier: `${verifier}v` })],
    ['the text of the code', () => ({ code: 'unknown' })],
  ])('the exchange of a code checks %s, and a failed exchange does not use up the code', async (_, wrong) => {
    const fixture = await openSessionFixture();
    const text = await fixture.code();
    expect(await fixture.exchange(text, wrong(fixture))).toMatchObject(notValid);
    expect(await fixture.exchange(text)).toMatchObject({ status: 200 });
  });

  test('a code with an incomplete PKCE challenge is refused', async () => {
    const { code, exchange } = await openSessionFixture();
    for (const challenge of ['', 'AAAA']) expect(await exchange(await code({ challenge }))).toMatchObject(notValid);
  });
});

describe('a code that cannot be exchanged', () => {
  test('the code of a deleted user is refused', async () => {
    const { code, exchange, directory, user } = await openSessionFixture();
    const text = await code();
    await directory.change((tx) => tx.remove('users', user.id));
    expect(await exchange(text)).toMatchObject(notValid);
  });

  test('the code of a user who is not in the team of the client is refused', async () => {
    const { code, exchange, directory, signIn } = await openSessionFixture();
    const team = await createTeam(directory, 'Other');
    const outsider = await createUser(directory, {
      email: 'bob@example.com',
      name: 'Bob',
      role: 'User',
      teams: [team.id],
      passwordHash: '',
    });
    const { key } = await signIn(outsider);
    expect(await exchange(await code({ userId: outsider.id, signIn: key }))).toMatchObject(notValid);
  });

  test('the code of a user who has signed out is refused', async () => {
    const { code, exchange, store, signIn } = await openSessionFixture();
    const { key } = await signIn();
    const text = await code({ signIn: key });
    store.signIns.removeSync(key);
    expect(await exchange(text)).toMatchObject(notValid);
  });

  test('the code of a user with a new password is refused', async () => {
    const { code, exchange, directory, user } = await openSessionFixture();
    const text = await code();
    await patchUser(directory, user.id, { passwordHash: 'another' });
    expect(await exchange(text)).toMatchObject(notValid);
  });

  test('the code of a deleted client is refused', async () => {
    const { code, exchange, directory, team, shop } = await openSessionFixture();
    const text = await code();
    await deleteClient(directory, team.id, shop.client.clientId);
    expect(await exchange(text)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  });

  test('the exchange of a code responds with 503 while the store accepts no writes, and keeps the code', async () => {
    const { code, exchange, health } = await openSessionFixture();
    const text = await code();
    health.ready = false;
    expect(await exchange(text)).toMatchObject({
      status: 503,
      json: { error: 'temporarily_unavailable' },
      headers: { ...noStore, 'retry-after': '5' },
    });
    health.ready = true;
    expect(await exchange(text)).toMatchObject({ status: 200 });
  });

  test.each([
    ['code', ''],
    ['redirect_uri', ''],
    ['code_verifier', ''],
    ['code_verifier', 'v'.repeat(42)],
    ['code_verifier', 'v'.repeat(129)],
    ['code_verifier', `${'v'.repeat(43)}+`],
  ])('the exchange of a code is refused if %s is %j', async (name, value) => {
    const { code, exchange } = await openSessionFixture();
    expect(await exchange(await code(), { [name]: value })).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
      headers: noStore,
    });
  });
});

describe('POST /connect/token', () => {
  test('an API key cannot exchange codes or refresh tokens', async () => {
    const { code, post, addClient } = await openSessionFixture();
    const { apiKey, clientSecret } = await addClient('Admin');
    const credentials = { client_id: apiKey.clientId, client_secret: clientSecret };
    for (const form of [
      { grant_type: 'authorization_code', code: await code(), redirect_uri: redirectUri, code_verifier: verifier },
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ]) {
      expect(await post('/connect/token', { ...form, ...credentials })).toMatchObject({
        status: 400,
        json: { error: 'unauthorized_client' },
        headers: noStore,
      });
    }
  });

  test('a sign-in client gets no token without a user', async () => {
    const { post, credentials, shop, app } = await openSessionFixture();
    for (const client of [shop, app]) {
      const form = { grant_type: 'client_credentials', scope: 'openid flagmeter', ...credentials(client) };
      expect(await post('/connect/token', form)).toMatchObject({ status: 400, json: { error: 'unauthorized_client' } });
    }
  });

  test('a code exchange requires the secret of a confidential client, and rejects a secret of a public client', async () => {
    const { code, exchange, shop, app } = await openSessionFixture();
    const refused = { status: 401, json: { error: 'invalid_client' } };
    const alone = { client_id: shop.client.clientId, client_secret: '' };
    expect(await exchange(await code(), alone)).toMatchObject(refused);
    expect(await exchange(await code(), { ...alone, client_secret: 'wrong' })).toMatchObject(refused);
    const open = { client_id: app.client.clientId, client_secret: 'anything' };
    expect(await exchange(await code({ clientId: app.client.clientId }), open)).toMatchObject(refused);
  });
});
