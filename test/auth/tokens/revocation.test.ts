import { describe, expect, test } from 'vitest';
import { openSessionFixture, type SessionFixture } from '../session-fixture.ts';

const path = '/connect/revocation';

function revoke({ post, credentials, shop }: SessionFixture, token: string, sent: Record<string, string> = {}) {
  return post(path, { token, ...credentials(shop), ...sent });
}

const done = { status: 200, text: '', headers: { 'cache-control': 'no-store' } };

describe('POST /connect/revocation', () => {
  test.each([{}, { token_type_hint: 'refresh_token' }, { token_type_hint: 'access_token' }, { token_type_hint: '?' }])(
    'revokes a refresh token and ends its session (%j)',
    async (hint) => {
      const fixture = await openSessionFixture();
      const { access_token, refresh_token } = await fixture.tokens();
      expect(await fixture.call(access_token)).toBe(200);
      expect(await revoke(fixture, refresh_token, hint)).toMatchObject(done);
      expect(await fixture.call(access_token)).toBe(401);
      expect(await fixture.refresh(refresh_token)).toMatchObject({ status: 400 });
      expect(fixture.audited('session.ended')).toMatchObject([{ actor: { id: fixture.user.id } }]);
    },
  );

  test('revokes a refresh token that was already used, and ends its session', async () => {
    const fixture = await openSessionFixture();
    const { refresh_token } = await fixture.tokens();
    const { json } = await fixture.refresh(refresh_token);
    expect(await revoke(fixture, refresh_token)).toMatchObject(done);
    expect(await fixture.call(json.access_token)).toBe(401);
  });

  test('revokes an access token and ends its session', async () => {
    const fixture = await openSessionFixture();
    const { access_token, refresh_token } = await fixture.tokens();
    expect(await revoke(fixture, access_token)).toMatchObject(done);
    expect(await fixture.call(access_token)).toBe(401);
    expect(await fixture.refresh(refresh_token)).toMatchObject({ status: 400 });
    expect(fixture.audited('token.invalidated')).toHaveLength(1);
  });

  test('revokes the token of an API key', async () => {
    const fixture = await openSessionFixture();
    const { apiKey, clientSecret } = await fixture.addClient('User');
    const credentials = { client_id: apiKey.clientId, client_secret: clientSecret };
    const form = { grant_type: 'client_credentials', scope: 'openid flagmeter', ...credentials };
    const { json } = await fixture.post('/connect/token', form);
    expect(await revoke(fixture, json.access_token, credentials)).toMatchObject(done);
    expect(await fixture.call(json.access_token)).toBe(401);
  });

  test('revokes the token of a public client, which sends only its id', async () => {
    const fixture = await openSessionFixture();
    const { credentials, app } = fixture;
    const { access_token, refresh_token } = await fixture.tokens({}, app);
    const sent = { client_secret: '', ...credentials(app) };
    expect(await revoke(fixture, refresh_token, sent)).toMatchObject(done);
    expect(await fixture.call(access_token)).toBe(401);
  });

  test('a token can be revoked twice', async () => {
    const fixture = await openSessionFixture();
    const { access_token, refresh_token } = await fixture.tokens();
    for (const token of [refresh_token, refresh_token, access_token, access_token])
      expect(await revoke(fixture, token)).toMatchObject(done);
  });
});

test.each(['unknown', 'a.b.c', `fm_refresh_${'A'.repeat(22)}.${'A'.repeat(43)}`])(
  'the revocation of the unknown token %s gets the same response as the revocation of a valid token',
  async (token) => {
    expect(await revoke(await openSessionFixture(), token)).toMatchObject(done);
  },
);

describe('a revocation', () => {
  test('the revocation of a token of another client is refused, and the token stays valid', async () => {
    const fixture = await openSessionFixture();
    const { access_token, refresh_token } = await fixture.tokens();
    const sent = { client_secret: '', ...fixture.credentials(fixture.app) };
    for (const token of [access_token, refresh_token])
      expect(await revoke(fixture, token, sent)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await fixture.call(access_token)).toBe(200);
    expect(await fixture.refresh(refresh_token)).toMatchObject({ status: 200 });
  });

  test('a client that fails to authenticate cannot revoke a token', async () => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens();
    for (const sent of [{ client_secret: 'wrong' }, { client_secret: '' }, { client_id: 'nobody' }]) {
      expect(await revoke(fixture, access_token, sent)).toMatchObject({
        status: 401,
        json: { error: 'invalid_client' },
        headers: { 'cache-control': 'no-store' },
      });
    }
    expect(await fixture.call(access_token)).toBe(200);
  });

  test('a revocation without a token is refused', async () => {
    expect(await revoke(await openSessionFixture(), '')).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
    });
  });

  test('a revocation is refused while the store accepts no writes', async () => {
    const fixture = await openSessionFixture();
    const { refresh_token } = await fixture.tokens();
    fixture.health.ready = false;
    expect(await revoke(fixture, refresh_token)).toMatchObject({ status: 503 });
  });
});
