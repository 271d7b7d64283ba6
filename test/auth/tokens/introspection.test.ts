import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/accounts/clients.ts';
import { createTeam } from '../../../src/accounts/teams.ts';
import { allScopes, openSessionFixture, redirectUri, type SessionFixture } from '../session-fixture.ts';

const path = '/connect/introspect';
const inactive = { status: 200, json: { active: false }, headers: { 'cache-control': 'no-store' } };

function introspect({ post, credentials, shop }: SessionFixture, token: string, sent: Record<string, string> = {}) {
  return post(path, { token, ...credentials(shop), ...sent });
}

async function createKey({ addClient }: SessionFixture, teamId?: string): Promise<Record<string, string>> {
  const { apiKey, clientSecret } = await addClient('User', teamId);
  return { client_id: apiKey.clientId, client_secret: clientSecret };
}

describe('a valid access token', () => {
  test('introspection returns the claims of an access token to the client of the token', async () => {
    const fixture = await openSessionFixture();
    const { user, shop } = fixture;
    const { access_token } = await fixture.tokens();
    const response = await introspect(fixture, access_token, { token_type_hint: 'refresh_token' });
    expect(response).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store', 'content-type': 'application/json' },
    });
    expect(response.json).toMatchObject({
      active: true,
      token_type: 'Bearer',
      sub: user.id,
      client_id: shop.client.clientId,
      scope: allScopes,
      iss: 'https://auth.example',
      aud: 'https://api.example',
      exp: expect.any(Number),
      iat: expect.any(Number),
    });
  });

  test('introspection returns the claims of an access token to an API key of a team of the user', async () => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens();
    const response = await introspect(fixture, access_token, await createKey(fixture));
    expect(response.json).toMatchObject({ active: true, sub: fixture.user.id });
  });

  test('introspection reports to an API key and a client of another team that the token is inactive', async () => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens();
    const { id } = await createTeam(fixture.directory, 'Other');
    expect(await introspect(fixture, access_token, await createKey(fixture, id))).toMatchObject(inactive);
    const wanted = { teamId: id, name: 'Spy', redirectUris: [redirectUri], confidential: true };
    const spy = await createClient(fixture.directory, wanted);
    expect(await introspect(fixture, access_token, fixture.credentials(spy))).toMatchObject(inactive);
  });
});

describe('an invalid token', () => {
  test.each<[string, (fixture: SessionFixture, token: string) => unknown]>([
    ['expired', ({ clock }) => clock.advance(3_600_000)],
    [
      'revoked',
      (fixture, token) => fixture.post('/connect/revocation', { token, ...fixture.credentials(fixture.shop) }),
    ],
    ['of a deleted user', ({ directory, user }) => directory.change((tx) => tx.remove('users', user.id))],
  ])('introspection reports only that a token is inactive if the token is %s', async (_, end) => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens();
    expect((await introspect(fixture, access_token)).json).toMatchObject({ active: true });
    await end(fixture, access_token);
    const response = await introspect(fixture, access_token);
    expect(response).toMatchObject(inactive);
    expect(Object.keys(response.json)).toEqual(['active']);
  });

  test.each(['unknown', 'a.b.c', `fm_refresh_${'A'.repeat(22)}.${'A'.repeat(43)}`])(
    'introspection reports only that an unknown token is inactive: %s',
    async (token) => {
      expect(await introspect(await openSessionFixture(), token)).toMatchObject(inactive);
    },
  );

  test('introspection reports only that an ID token is inactive', async () => {
    const fixture = await openSessionFixture();
    expect(await introspect(fixture, (await fixture.tokens()).id_token)).toMatchObject(inactive);
  });
});

describe('a refresh token', () => {
  test('introspection reports to the client that its current refresh token is active', async () => {
    const fixture = await openSessionFixture();
    const { refresh_token } = await fixture.tokens();
    const { json } = await introspect(fixture, refresh_token);
    expect(json).toEqual({
      active: true,
      client_id: fixture.shop.client.clientId,
      scope: allScopes,
      sub: fixture.user.id,
      iat: Math.floor(fixture.clock.now() / 1000),
      exp: Math.floor(fixture.clock.now() / 1000) + 30 * 24 * 3600,
    });
    const next = await fixture.refresh(refresh_token);
    expect(await introspect(fixture, refresh_token)).toMatchObject(inactive);
    // Introspection does not use up the token.
    expect(await fixture.refresh(next.json.refresh_token)).toMatchObject({ status: 200 });
  });

  test('introspection reports to another client that a refresh token is inactive', async () => {
    const fixture = await openSessionFixture();
    const { refresh_token } = await fixture.tokens();
    expect(await introspect(fixture, refresh_token, await createKey(fixture))).toMatchObject(inactive);
  });

  test('introspection reports that an expired refresh token is inactive', async () => {
    const fixture = await openSessionFixture();
    const { refresh_token } = await fixture.tokens();
    fixture.clock.advance(30 * 24 * 3_600_000);
    expect(await introspect(fixture, refresh_token)).toMatchObject(inactive);
  });
});

describe('POST /connect/introspect', () => {
  const refused = { status: 401, json: { error: 'invalid_client' }, headers: { 'cache-control': 'no-store' } };

  test('introspection refuses a public client', async () => {
    const fixture = await openSessionFixture();
    const { app } = fixture;
    const { access_token } = await fixture.tokens({}, app);
    const sent = { client_secret: '', ...fixture.credentials(app) };
    expect(await introspect(fixture, access_token, sent)).toMatchObject(refused);
  });

  test.each([{ client_secret: 'wrong' }, { client_secret: '' }, { client_id: 'nobody' }])(
    'introspection refuses a client with wrong credentials: %j',
    async (sent) => {
      expect(await introspect(await openSessionFixture(), 'x', sent)).toMatchObject(refused);
    },
  );

  test('introspection refuses a form without a token', async () => {
    expect(await introspect(await openSessionFixture(), '')).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
    });
  });
});
