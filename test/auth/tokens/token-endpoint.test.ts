import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { jwksEndpoint } from '../../../src/auth/discovery.ts';
import { tokenEndpoint } from '../../../src/auth/oauth/token-endpoint.ts';
import { createRouter } from '../../../src/http/router.ts';
import type { Dispatch } from '../../../src/http/types.ts';
import { bind } from '../bind.ts';
import { type JsonResponse, openAuthFixture, send } from '../fixture.ts';

const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const bothScopes = 'openid flagmeter';

async function openEndpoint() {
  const fixture = await openAuthFixture();
  const client = await fixture.addClient('Admin');
  const dispatch = createRouter(bind([tokenEndpoint, jwksEndpoint], fixture.settings));
  const credentials = { client_id: client.apiKey.clientId, client_secret: client.clientSecret };
  return { ...fixture, dispatch, credentials };
}

function ask(
  dispatch: Dispatch,
  form: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
  return send(dispatch, '/connect/token', { method: 'POST', headers: { ...formType, ...headers }, body });
}

function basic(id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

describe('a client with its credentials', () => {
  test('a client gets a token that the keys in the JWKS verify', async () => {
    const { dispatch, credentials, clock, team } = await openEndpoint();
    const response = await ask(dispatch, { grant_type: 'client_credentials', scope: bothScopes, ...credentials });
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(response.json).toEqual({
      access_token: expect.any(String),
      expires_in: 3600,
      token_type: 'Bearer',
      scope: bothScopes,
    });

    const jwks = await send(dispatch, '/.well-known/jwks.json');
    const token = response.json.access_token;
    const { payload } = await jwtVerify(token, createLocalJWKSet(jwks.json), { currentDate: new Date(clock.now()) });
    const issuedAt = Math.floor(clock.now() / 1000);
    expect(payload).toEqual({
      iss: 'https://auth.example',
      aud: 'https://api.example',
      sub: credentials.client_id,
      client_id: credentials.client_id,
      scope: bothScopes,
      role: 'Admin',
      team: [team.id],
      primaryTeam: team.id,
      iat: issuedAt,
      exp: issuedAt + 3600,
      jti: expect.stringMatching(/^[\w-]{22}$/),
    });
    const kid = jwks.json.keys[0].kid;
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid });
  });

  test('a client can send form-encoded credentials with HTTP Basic', async () => {
    const { dispatch, credentials } = await openEndpoint();
    const encodedId = credentials.client_id.replaceAll('_', '%5F');
    const form = { grant_type: 'client_credentials', scope: 'flagmeter openid' };
    const response = await ask(dispatch, form, basic(encodedId, credentials.client_secret));
    expect(response).toMatchObject({ status: 200, json: { scope: bothScopes } });
    const named = await ask(
      dispatch,
      { ...form, client_id: credentials.client_id },
      basic(encodedId, credentials.client_secret),
    );
    expect(named.status).toBe(200);
  });

  test('a client never gets the same token twice', async () => {
    const { dispatch, credentials } = await openEndpoint();
    const form = { grant_type: 'client_credentials', scope: bothScopes, ...credentials };
    const responses = await Promise.all([ask(dispatch, form), ask(dispatch, form)]);
    expect(new Set(responses.map(({ json }) => json.access_token)).size).toBe(2);
  });

  test.each([
    ['no scope', {}],
    ['an empty scope', { scope: '' }],
    ['only the scope openid', { scope: 'openid' }],
    ['only the scope of the service', { scope: 'flagmeter' }],
    ['an additional scope', { scope: `${bothScopes} email` }],
    ['a scope in another case', { scope: 'openid Flagmeter' }],
  ])('a token request with %s is refused', async (_, scope) => {
    const { dispatch, credentials } = await openEndpoint();
    const response = await ask(dispatch, { grant_type: 'client_credentials', ...credentials, ...scope });
    expect(response).toMatchObject({ status: 400, json: { error: 'invalid_scope' } });
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  });
});

describe('a client that fails to authenticate', () => {
  const form = { grant_type: 'client_credentials', scope: bothScopes };

  test('an unknown client id and a wrong secret get the same response', async () => {
    const { dispatch, credentials } = await openEndpoint();
    const wrong = await ask(dispatch, { ...form, ...credentials, client_secret: 'wrong' });
    const unknown = await ask(dispatch, { ...form, ...credentials, client_id: 'nobody' });
    expect(wrong).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    expect(wrong.headers).not.toHaveProperty('www-authenticate');
    expect(unknown).toEqual(wrong);
  });

  test.each([
    ['wrong secret', basic('nobody', 'wrong')],
    ['no colon', { authorization: `Basic ${Buffer.from('nobody').toString('base64')}` }],
    ['broken escapes', basic('%zz', '%')],
    ['no base64', { authorization: 'Basic !' }],
    ['another scheme', { authorization: 'Bearer abc' }],
  ])('a client that fails to authenticate with the header gets a challenge: %s', async (_, headers) => {
    const { dispatch } = await openEndpoint();
    const response = await ask(dispatch, form, headers);
    expect(response).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    expect(response.headers['www-authenticate']).toMatch(/^Basic .*error="invalid_client"/);
  });

  test.each([{}, { client_id: 'x' }, { client_secret: 'x' }, { client_id: '', client_secret: '' }])(
    'a token request with only the credentials %j is refused',
    async (given) => {
      const { dispatch } = await openEndpoint();
      expect(await ask(dispatch, { ...form, ...given })).toMatchObject({
        status: 401,
        json: { error: 'invalid_client' },
      });
    },
  );

  test('a deleted API key gets no token', async () => {
    const { dispatch, credentials, directory } = await openEndpoint();
    await directory.change((tx) => tx.remove('apiKeys', credentials.client_id));
    expect(await ask(dispatch, { ...form, ...credentials })).toMatchObject({ status: 401 });
  });
});

describe('an unusual token request', () => {
  const grant = 'grant_type=client_credentials';
  test.each<[string, string, Record<string, string>, number, string]>([
    ['no grant type', 'scope=openid', {}, 400, 'invalid_request'],
    ['an empty grant type', 'grant_type=', {}, 400, 'invalid_request'],
    ['another grant', 'grant_type=password', {}, 400, 'unsupported_grant_type'],
    ['a parameter twice', `${grant}&scope=a&scope=a`, {}, 400, 'invalid_request'],
    ['both methods of authentication', `${grant}&client_id=a&client_secret=b`, basic('a', 'b'), 400, 'invalid_request'],
    ['two client ids', `${grant}&client_id=c`, basic('a', 'b'), 400, 'invalid_request'],
    ['a broken escape', 'grant_type=%zz', {}, 400, 'invalid_request'],
    ['bytes that are not UTF-8', 'grant_type=%ff', {}, 400, 'invalid_request'],
    ['JSON', '{}', { 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['no content type', grant, { 'content-type': '' }, 400, 'invalid_request'],
    ['a body that is too large', `${grant}&x=${'x'.repeat(20_000)}`, {}, 413, 'invalid_request'],
  ])('an unusual token request with %s is refused', async (_, body, headers, status, error) => {
    const { dispatch } = await openEndpoint();
    const response = await ask(dispatch, body, headers);
    expect(response).toMatchObject({ status, json: { error, error_description: expect.any(String) } });
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
  });

  test('a token request can have a charset in the content type, and unknown parameters', async () => {
    const { dispatch, credentials } = await openEndpoint();
    const form = { grant_type: 'client_credentials', scope: bothScopes, ...credentials, audience: 'x' };
    const type = 'Application/X-WWW-Form-Urlencoded; charset=utf-8';
    expect((await ask(dispatch, form, { 'content-type': type })).status).toBe(200);
  });
});

test('the JWKS contains only public parts', async () => {
  const { dispatch, signingKey } = await openEndpoint();
  const { json, text } = await send(dispatch, '/.well-known/jwks.json');
  expect(json.keys).toHaveLength(1);
  expect(Object.keys(json.keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  expect(text).not.toContain(String(signingKey.privateJwk['d']));
});
