import { describe, expect, test } from 'vitest';
import { deleteApiKey } from '../../../src/accounts/api-keys.ts';
import { type JsonResponse, send } from '../fixture.ts';
import { openSessionFixture, type SessionFixture } from '../session-fixture.ts';

const path = '/api/account/invalidate-token';
const headers = { 'cache-control': 'no-store', 'content-type': 'application/json' };

function invalidate({ dispatch }: SessionFixture, authorization?: string): Promise<JsonResponse> {
  return send(dispatch, path, { method: 'POST', headers: authorization === undefined ? {} : { authorization } });
}

/** The token of a client that acts without a user. */
async function clientToken({ addClient, post }: SessionFixture): Promise<{ token: string; clientId: string }> {
  const { apiKey, clientSecret } = await addClient('User');
  const { clientId } = apiKey;
  const form = { grant_type: 'client_credentials', scope: 'openid flagmeter' };
  const response = await post('/connect/token', { ...form, client_id: clientId, client_secret: clientSecret });
  return { token: response.json.access_token, clientId };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('a valid token', () => {
  test('an invalidated token is rejected from the next request on', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    expect(await fixture.call(token)).toBe(200);
    expect(await invalidate(fixture, `Bearer ${token}`)).toMatchObject({
      status: 200,
      headers,
      json: { message: expect.any(String) },
    });
    expect(await fixture.call(token)).toBe(401);
    expect(await invalidate(fixture, `Bearer ${token}`)).toMatchObject({ status: 401 });
  });

  test('an invalidated token is rejected even if it was not used before', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    expect(await invalidate(fixture, `bearer ${token}`)).toMatchObject({ status: 200 });
    expect(await fixture.call(token)).toBe(401);
  });

  test('an invalidated token is still rejected after a restart', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    await invalidate(fixture, `Bearer ${token}`);
    const again = await fixture.restart();
    expect(await again.call(token)).toBe(401);
    expect(await invalidate(again, `Bearer ${token}`)).toMatchObject({ status: 401 });
  });

  test('another encoding of an invalidated token is rejected, too', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    await invalidate(fixture, `Bearer ${token}`);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.at(-1) ?? '');
    for (const spare of [1, 2, 4, 8, 15]) {
      const text = token.slice(0, -1) + alphabet[(last & 48) | ((last + spare) & 15)];
      expect(await fixture.call(text)).toBe(401);
      expect(await invalidate(fixture, `Bearer ${text}`)).toMatchObject({ status: 401 });
    }
    for (const text of [`${token}=`, `${token}A`]) expect(await fixture.call(text)).toBe(401);
  });

  test('an invalidated token with the equivalent signature (r, n − s) is rejected, too', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    const [header, payload, signature = ''] = token.split('.');
    const bytes = Buffer.from(signature, 'base64url');
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
    const twin = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
    const text = `${header}.${payload}.${twin.toString('base64url')}`;
    expect([await fixture.call(token), await fixture.call(text), await fixture.call(token)]).toEqual([200, 200, 200]);
    await invalidate(fixture, `Bearer ${token}`);
    expect([await fixture.call(text), await fixture.call(token)]).toEqual([401, 401]);
  });

  test('the invalidation of a token also ends its session and its refresh token', async () => {
    const fixture = await openSessionFixture();
    const { access_token, refresh_token } = await fixture.tokens();
    const other = await fixture.tokens();
    expect(await invalidate(fixture, `Bearer ${access_token}`)).toMatchObject({ status: 200 });
    expect(await fixture.refresh(refresh_token)).toMatchObject({ status: 400 });
    expect(await fixture.call(other.access_token)).toBe(200);
    expect(fixture.audited('token.invalidated')).toMatchObject([
      { actor: { type: 'user', id: fixture.user.id }, teamId: fixture.team.id },
    ]);
  });

  test('a token with any scope can be invalidated', async () => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens({ scope: 'openid' });
    expect(await invalidate(fixture, `Bearer ${access_token}`)).toMatchObject({ status: 200 });
  });

  test('a token remains valid if the store rejects its invalidation', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    fixture.health.ready = false;
    expect(await invalidate(fixture, `Bearer ${token}`)).toMatchObject({ status: 503 });
    expect(await fixture.call(token)).toBe(200);
    fixture.health.ready = true;
    expect(await invalidate(fixture, `Bearer ${token}`)).toMatchObject({ status: 200 });
  });

  test('only one of many concurrent requests invalidates a token, with one audit log entry', async () => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    const responses = await Promise.all([1, 2, 3].map(() => invalidate(fixture, `Bearer ${token}`)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(await fixture.call(token)).toBe(401);
    expect(fixture.audited('token.invalidated')).toHaveLength(1);
  });
});

describe('a rejected invalidation', () => {
  test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'abc'])(
    'an invalidation without a bearer token is rejected: %j',
    async (authorization) => {
      const response = await invalidate(await openSessionFixture(), authorization);
      expect(response).toMatchObject({ status: 401, headers: { ...headers, 'www-authenticate': 'Bearer' } });
      expect(response.json).toEqual({ error: 'invalid_token', error_description: 'No bearer token is provided' });
    },
  );

  test.each<[string, (token: string, fixture: SessionFixture) => string | Promise<string>]>([
    ['another signature', (token) => `${token.slice(0, -86)}${'A'.repeat(86)}`],
    ['no signature', (token) => token.slice(0, -86)],
    ['other claims', (token) => token.replace(/\.[^.]*\./, `.${encode({ sub: 'x' })}.`)],
    ['no algorithm', (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
    [
      'an expiry in the past',
      (token, { clock }) => {
        clock.advance(3_600_000);
        return token;
      },
    ],
  ])('a well-formed token with %s is rejected', async (_, alter) => {
    const fixture = await openSessionFixture();
    const { token } = await clientToken(fixture);
    const response = await invalidate(fixture, `Bearer ${await alter(token, fixture)}`);
    expect(response).toMatchObject({
      status: 401,
      headers: { ...headers, 'www-authenticate': 'Bearer error="invalid_token"' },
      json: { error: 'invalid_token', error_description: expect.any(String) },
    });
  });

  test('the invalidation of a token of a deleted API key is rejected', async () => {
    const fixture = await openSessionFixture();
    const { token, clientId } = await clientToken(fixture);
    await deleteApiKey(fixture.directory, fixture.team.id, clientId);
    expect(await invalidate(fixture, `Bearer ${token}`)).toMatchObject({ status: 401 });
  });

  test('the invalidation of an ID token is rejected', async () => {
    const fixture = await openSessionFixture();
    const { id_token } = await fixture.tokens();
    expect(await invalidate(fixture, `Bearer ${id_token}`)).toMatchObject({ status: 401 });
  });
});

test.each(['abc', 'a.b', 'a.b.c', '..', 'a.b.c.d', `${encode({ alg: 'ES256' })}.${encode([])}.x`])(
  'the invalidation of the malformed JWT %s gets the status 400',
  async (token) => {
    const response = await invalidate(await openSessionFixture(), `Bearer ${token}`);
    expect(response).toMatchObject({ status: 400, headers });
    expect(response.json).toEqual({ error: 'invalid_token', error_description: 'The token is not a well-formed JWT' });
  },
);
