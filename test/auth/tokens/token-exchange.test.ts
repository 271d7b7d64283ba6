import { exportJWK, generateKeyPair, type JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../../src/accounts/api-keys.ts';
import { readTrust, type WantedTrust } from '../../../src/accounts/trusts.ts';
import { tokenEndpoint } from '../../../src/auth/oauth/token-endpoint.ts';
import { createValidation } from '../../../src/auth/oauth/validation.ts';
import { IssuerKeys } from '../../../src/auth/oauth/workload-token.ts';
import { outboundFetch } from '../../../src/http/outbound/fetch.ts';
import { createRouter } from '../../../src/http/router.ts';
import { showApiKey } from '../../../src/management/api-keys.ts';
import { bind } from '../bind.ts';
import { type JsonResponse, openAuthFixture, send } from '../fixture.ts';
import { getKey, openIssuer } from '../support/issuer.ts';

const subject = 'repo:shop/checkout:ref:refs/heads/main';
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtType = 'urn:ietf:params:oauth:token-type:jwt';

/** Creates an API key that trusts an issuer, and functions that exchange tokens of the issuer. */
async function open(more: Partial<WantedTrust> = {}) {
  const fixture = await openAuthFixture();
  const { directory, team, clock } = fixture;
  const issuer = await openIssuer();
  const warnings: string[] = [];
  const issuerKeys = new IssuerKeys({
    clock,
    log: { warn: (_text, fields) => void warnings.push((fields?.['error'] as Error | undefined)?.message ?? '') },
    fetchFromIssuer: outboundFetch({
      allowPrivate: true,
      allowedBy: '--issuer-allow-private',
      resolve: async () => [],
      version: 'test',
      deadlineMs: 60_000,
      maxBytes: 262_144,
    }),
  });
  const settings = { ...fixture.settings, issuerKeys };
  const wanted = { issuer: issuer.url, audience: 'https://flags.example', subject, ...more };
  const trust = await readTrust(wanted, true);
  const { apiKey, clientSecret } = await createApiKey(directory, { teamId: team.id, name: 'CI', role: 'User', trust });
  expect(clientSecret).toBe('');
  const dispatch = createRouter(bind([tokenEndpoint], settings));
  const post = (form: Record<string, string>, headers: Record<string, string> = {}): Promise<JsonResponse> =>
    send(dispatch, '/connect/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    });
  const claims = (): JWTPayload => {
    const now = Math.floor(clock.now() / 1000);
    return { iss: wanted.issuer, aud: wanted.audience, sub: subject, iat: now, exp: now + 300 };
  };
  const sign = (changed: JWTPayload = {}, ...rest: [header?: object, key?: never]) =>
    issuer.sign({ ...claims(), ...changed }, ...rest);
  const form = { grant_type: exchange, client_id: apiKey.clientId, scope: 'openid flagmeter' };
  const exchanged = (token: string, changed: Record<string, string> = {}) =>
    post({ ...form, subject_token: token, subject_token_type: jwtType, ...changed });
  return { ...fixture, settings, issuer, apiKey, sign, claims, post, exchanged, warnings };
}

describe('a workload token', () => {
  test('an exchanged access token lasts 15 minutes, whatever the lifetime of the workload token', async () => {
    const { exchanged, sign, apiKey, settings, directory, clock } = await open();
    const response = await exchanged(await sign({ exp: Math.floor(clock.now() / 1000) + 5 }));
    expect(response).toMatchObject({
      status: 200,
      json: {
        access_token: expect.any(String),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 900,
        scope: 'openid flagmeter',
      },
    });
    const claims = await createValidation(settings)(response.json.access_token);
    expect(claims).toMatchObject({ sub: apiKey.clientId, role: 'User' });
    expect(claims.exp - claims.iat).toBe(900);
    expect(showApiKey(directory, apiKey)).toMatchObject({ credential: 'trust', lastSubject: subject });
    await directory.flush();
    expect(directory.apiKeys.get(apiKey.clientId)).toMatchObject({ lastSubject: subject });
  });

  test('an ID token with several audiences can be exchanged', async () => {
    const { exchanged, sign } = await open();
    const token = await sign({ aud: ['https://other.example', 'https://flags.example'] });
    const type = { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' };
    expect(await exchanged(token, type)).toMatchObject({ status: 200 });
  });

  const at = (seconds: number) => Math.floor(Date.UTC(2026, 0, 2, 3, 4, 5) / 1000) + seconds;
  test.each<[string, JWTPayload, string]>([
    ['another issuer', { iss: 'https://evil.example' }, 'iss'],
    ['an issuer with a slash', { iss: 'http://127.0.0.1/' }, 'iss'],
    ['another audience', { aud: 'https://other.example' }, 'aud'],
    ['an object as audience', { aud: { x: 1 } as never }, 'aud'],
    ['no audience', { aud: undefined as never }, 'aud'],
    ['another branch', { sub: 'repo:shop/checkout:ref:refs/heads/dev' }, 'sub'],
    ['a pull request', { sub: 'repo:shop/checkout:pull_request' }, 'sub'],
    ['a list as subject', { sub: ['x'] as never }, 'sub'],
    ['a huge subject', { sub: 's'.repeat(2000) }, 'sub'],
    ['no subject', { sub: undefined as never }, 'sub'],
    ['no further claim', {}, 'repository_owner_id'],
    ['another further claim', { repository_owner_id: '8' }, 'repository_owner_id'],
    ['a number as further claim', { repository_owner_id: 7 }, 'repository_owner_id'],
    ['an expired token', { exp: at(-61) }, 'expired'],
    ['a token that never expires', { exp: undefined as never }, 'exp'],
    ['a token that is not valid yet', { nbf: at(61) }, 'nbf'],
    ['a token from the future', { iat: at(61) }, 'iat'],
  ])('the refusal of a workload token names the reason: %s', async (_name, changed, reason) => {
    const { exchanged, sign, directory, apiKey } = await open({ claims: { repository_owner_id: '7' } });
    const needsOwner = reason !== 'repository_owner_id';
    const response = await exchanged(await sign({ ...(needsOwner && { repository_owner_id: '7' }), ...changed }));
    expect(response).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(response.json.error_description).toContain(reason);
    expect(response.json.error_description).not.toContain(subject);
    expect(directory.findLastUse(apiKey)).toBeUndefined();
  });

  test('forged, unsigned, huge and malformed workload tokens are refused, with few requests to the issuer', async () => {
    const { exchanged, sign, claims, issuer } = await open();
    const other = getKey('other').privateKey;
    const none = [{ alg: 'none' }, claims()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    const forged = [
      `${none.join('.')}.`,
      await issuer.sign(claims(), {}, other),
      await issuer.sign(claims(), { kid: undefined }, other),
      await issuer.sign(claims(), { alg: 'HS256' }, new TextEncoder().encode('x'.repeat(32))),
      await sign({ more: 'x'.repeat(8192) }),
      'a.b.c',
      '{}',
    ];
    for (const token of forged)
      expect(await exchanged(token)).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    for (let round = 0; round < 20; round += 1)
      await exchanged(await issuer.sign(claims(), { kid: `k${round}` }, other));
    expect(issuer.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
    expect(await exchanged(await sign({}, { kid: undefined }))).toMatchObject({ status: 200 });
  });

  test('an unknown or expired API key, an API key with a secret, and unsupported parameters are refused', async () => {
    const { exchanged, sign, addClient, post, directory, apiKey, clock, issuer } = await open();
    const token = await sign();
    const { apiKey: secret } = await addClient('User');
    for (const id of ['client_unknown', '__proto__', '', secret.clientId, 'flagmeter-cli'])
      expect(await exchanged(token, { client_id: id })).toMatchObject({ status: 401 });
    const grant = { grant_type: 'client_credentials', scope: 'openid flagmeter' };
    for (const client_secret of ['', 'x', '0'.repeat(64)])
      expect(await post({ ...grant, client_id: apiKey.clientId, client_secret })).toMatchObject({ status: 401 });
    const wrong = [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      { actor_token: 'x' },
      { resource: 'https://api.example' },
      { scope: 'admin' },
      { subject_token: '' },
    ];
    for (const changed of wrong) expect(await exchanged(token, changed)).toMatchObject({ status: 400 });
    expect(issuer.requests).toEqual([]);
    await directory.change((tx) => tx.put('apiKeys', apiKey.clientId, { ...apiKey, expiresAt: clock.now() }));
    expect(await exchanged(token)).toMatchObject({ status: 401 });
  });
});

describe('the keys of an issuer', () => {
  test('the keys of an issuer are read once for many tokens, and again for a new key', async () => {
    const { exchanged, sign, issuer, clock } = await open();
    const tokens = await Promise.all([sign(), sign(), sign()]);
    const responses = await Promise.all(tokens.map((token) => exchanged(token)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(issuer.requests).toHaveLength(2);
    issuer.rotate('second');
    clock.advance(30_000);
    expect(await exchanged(await sign())).toMatchObject({ status: 200 });
    expect(issuer.requests).toHaveLength(4);
  });

  test('the keys of an unreachable issuer are kept for a day, and a removed key is dropped at the next read', async () => {
    const { exchanged, sign, issuer, clock, warnings } = await open();
    expect(await exchanged(await sign())).toMatchObject({ status: 200 });
    issuer.responses.set('/.well-known/openid-configuration', 503);
    clock.advance(23 * 3_600_000);
    expect(await exchanged(await sign())).toMatchObject({ status: 200 });
    expect(warnings).toEqual(['it responded with 503']);
    clock.advance(3_600_000);
    const away = await exchanged(await sign());
    expect(away).toMatchObject({ status: 503, json: { error: 'temporarily_unavailable' } });
    expect(away.headers).toHaveProperty('retry-after');
    const before = await sign();
    issuer.rotate('second');
    issuer.responses.clear();
    clock.advance(30_000);
    expect(await exchanged(before)).toMatchObject({ status: 400 });
    expect(await exchanged(await sign())).toMatchObject({ status: 200 });
  });

  test.each<[string, string, number | object, RegExp]>([
    [
      'a document of another issuer',
      '/.well-known/openid-configuration',
      { issuer: 'https://x', jwks_uri: 'https://x' },
      /another/,
    ],
    ['a document without jwks_uri', '/.well-known/openid-configuration', 0, /jwks_uri/],
    ['a redirect', '/.well-known/openid-configuration', 302, /redirect/],
    ['a document that is a list', '/.well-known/openid-configuration', [], /another/],
    ['a huge key set', '/jwks', { keys: 'x'.repeat(300_000) }, /larger/],
    ['a key set without keys', '/jwks', { keys: {} }, /no keys/],
  ])('the keys of an issuer are not read from %s', async (_name, path, content, warning) => {
    const { exchanged, sign, issuer, warnings } = await open();
    issuer.responses.set(path, content === 0 ? { issuer: issuer.url } : content);
    expect(await exchanged(await sign())).toMatchObject({ status: 503 });
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  test('an issuer with static keys gets no request', async () => {
    const { privateKey, jwk } = getKey('cluster');
    const cluster = 'https://kubernetes.default.svc.cluster.local';
    const pod = 'system:serviceaccount:shop:deployer';
    const { exchanged, claims, issuer } = await open({
      issuer: cluster,
      subject: 'system:serviceaccount:shop:*',
      jwks: { keys: [jwk] },
    });
    const token = await issuer.sign({ ...claims(), sub: pod }, { kid: 'cluster' }, privateKey);
    expect(await exchanged(token)).toMatchObject({ status: 200 });
    expect(await exchanged(await issuer.sign({ ...claims(), sub: pod }))).toMatchObject({ status: 400 });
    expect(issuer.requests).toEqual([]);
  });
});

describe('the trust of an API key', () => {
  const good = { issuer: 'https://ci.example', audience: 'https://flags.example', subject };
  test.each<[string, Partial<WantedTrust>, RegExp]>([
    ['an issuer without TLS', { issuer: 'http://ci.example' }, /issuer/],
    ['an issuer with a query', { issuer: 'https://ci.example?x' }, /issuer/],
    ['an issuer with a user', { issuer: 'https://a@ci.example' }, /issuer/],
    ['an issuer on this machine', { issuer: 'https://localhost:8443' }, /issuer.*public/],
    ['an issuer with a private address', { issuer: 'https://10.0.0.1/ci' }, /issuer.*public/],
    ['an issuer with a private IPv6 address', { issuer: 'https://[fd00::1]' }, /issuer.*public/],
    ['an issuer with the port 0', { issuer: 'https://ci.example:0' }, /issuer/],
    ['a relative issuer', { issuer: 'ci.example' }, /issuer/],
    ['no audience', { audience: '' }, /audience/],
    ['a subject that matches all owners', { subject: 'repo:*/checkout:ref:refs/heads/main' }, /subject/],
    ['an empty claim', { claims: { a: '' } }, /claims/],
    ['many claims', { claims: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`c${i}`, 'x'])) }, /claims/],
    ['a private key', { jwks: { keys: [{ kty: 'oct', k: 'x' }] } }, /trust.jwks.keys\[0\].*private/],
  ])('the trust of an API key is refused: %s', async (_name, changed, message) => {
    const error = expect.objectContaining({ code: 'invalid_body', message: expect.stringMatching(message) });
    await expect(readTrust({ ...good, ...changed }, false)).rejects.toEqual(error);
  });

  test('an API key can trust an issuer in a private network if its keys are static or the setting allows it', async () => {
    const { publicKey } = await generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] };
    const issuer = 'https://10.0.0.1/ci';
    expect(await readTrust({ ...good, issuer, jwks: jwks as never }, false)).toMatchObject({ issuer });
    expect(await readTrust({ ...good, issuer }, true)).toMatchObject({ issuer });
  });
});
