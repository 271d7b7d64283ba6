import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { importPKCS8, type JWTPayload, SignJWT } from 'jose';
import {
  clientCredentialsGrantRequest,
  clockSkew,
  customFetch,
  PrivateKeyJwt,
  processClientCredentialsResponse,
} from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../../src/accounts/api-keys.ts';
import { createClient } from '../../../src/accounts/clients.ts';
import { readPublicKeys } from '../../../src/accounts/public-keys.ts';
import { assertionType } from '../../../src/auth/oauth/client-assertion.ts';
import { deviceAuthorizationEndpoint } from '../../../src/auth/oauth/device-authorization.ts';
import { introspectionEndpoint } from '../../../src/auth/oauth/introspection.ts';
import { revocationEndpoint } from '../../../src/auth/oauth/revocation.ts';
import { tokenEndpoint } from '../../../src/auth/oauth/token-endpoint.ts';
import { createValidation } from '../../../src/auth/oauth/validation.ts';
import { sweepRound } from '../../../src/auth/sweep.ts';
import { createRouter } from '../../../src/http/router.ts';
import { bind } from '../bind.ts';
import { createSettings, type JsonResponse, openAuthFixture, send } from '../fixture.ts';

const es256 = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const exportJwk = (key: KeyObject) => key.export({ format: 'jwk' }) as Record<string, unknown>;

/** Creates an API key with a public key, and functions that send requests with signed assertions. */
async function open(pair = es256(), alg = 'ES256') {
  const fixture = await openAuthFixture();
  const { settings, directory, team, clock } = fixture;
  const publicKeys = await readPublicKeys([{ ...exportJwk(pair.publicKey), kid: 'first' }]);
  const wanted = { teamId: team.id, name: 'CI', role: 'User', publicKeys } as const;
  const { apiKey } = await createApiKey(directory, wanted);
  const endpoints = [tokenEndpoint, revocationEndpoint, introspectionEndpoint, deviceAuthorizationEndpoint];
  const deps = { ...settings, validate: createValidation(settings) };
  const dispatch = createRouter(bind(endpoints, deps));
  const restarted = createRouter(bind(endpoints, { ...deps, ...createSettings(fixture, fixture.signingKey) }));
  const id = apiKey.clientId;
  const sign = (claims: JWTPayload = {}, header: object = {}, key = pair.privateKey) => {
    const now = Math.floor(clock.now() / 1000);
    const usual = { iss: id, sub: id, aud: settings.issuer, exp: now + 60, jti: randomUUID() };
    return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid: 'first', ...header }).sign(key);
  };
  const post = (path: string, form: Record<string, string>, to = dispatch): Promise<JsonResponse> =>
    send(to, path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    });
  const asserted = (assertion: string) => ({ client_assertion_type: assertionType, client_assertion: assertion });
  const grant = { grant_type: 'client_credentials', scope: 'openid flagmeter' };
  const askWith = (assertion: string, more = {}, to = dispatch) =>
    post('/connect/token', { ...grant, ...asserted(assertion), ...more }, to);
  return { ...fixture, id, sign, post, asserted, askWith, dispatch, restarted, pair };
}

const refused = { status: 401, json: { error: 'invalid_client' } };

describe('a client assertion', () => {
  test('a client gets a token with an assertion that an OAuth library made', async () => {
    const { id, dispatch, pair, settings, clock } = await open();
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const key = { key: await importPKCS8(pem, 'ES256'), kid: 'first' };
    const server = { issuer: settings.issuer, token_endpoint: `${settings.issuer}/connect/token` };
    const client = { client_id: id, [clockSkew]: Math.round((clock.now() - Date.now()) / 1000) };
    const response = await clientCredentialsGrantRequest(
      server,
      client,
      PrivateKeyJwt(key),
      { scope: 'openid flagmeter' },
      {
        [customFetch]: async (_url, { headers, body }) => {
          const sent = { method: 'POST', headers, body: String(body) };
          const { status, text } = await send(dispatch, '/connect/token', sent);
          return new Response(text, { status, headers: { 'content-type': 'application/json' } });
        },
      },
    );
    const tokens = await processClientCredentialsResponse(server, client, response);
    expect(tokens.access_token).toMatch(/^ey/);
  });

  test.each([
    ['ES256', es256],
    ['EdDSA', () => generateKeyPairSync('ed25519')],
    ['Ed25519', () => generateKeyPairSync('ed25519')],
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])('an assertion signed with %s is accepted, with or without client_id and kid', async (alg, createPair) => {
    const { id, sign, askWith, settings } = await open(createPair() as ReturnType<typeof es256>, alg);
    expect(await askWith(await sign())).toMatchObject({ status: 200 });
    expect(await askWith(await sign({}, { kid: undefined }), { client_id: id })).toMatchObject({ status: 200 });
    const audience = { aud: `${settings.issuer}/connect/token` };
    expect(await askWith(await sign(audience))).toMatchObject({ status: 200 });
  });

  test('an assertion is accepted only once, even after a restart', async () => {
    const { sign, askWith, restarted } = await open();
    const first = await sign();
    const second = await sign();
    expect(await askWith(first)).toMatchObject({ status: 200 });
    expect(await askWith(first)).toMatchObject(refused);
    expect(await askWith(second)).toMatchObject({ status: 200 });
    expect(await askWith(second, {}, restarted)).toMatchObject(refused);
    const both = await sign();
    const responses = await Promise.all([askWith(both), askWith(both)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test('the store removes an assertion after its expiry', async () => {
    const { sign, askWith, store, accountStore, clock } = await open();
    const assertion = await sign({ exp: Math.floor(clock.now() / 1000) + 300 });
    expect(await askWith(assertion)).toMatchObject({ status: 200 });
    const sweep = () =>
      sweepRound({ accounts: store, accountStore, clock, auditMs: 1e9, pause: async () => true } as never);
    clock.advance(359_000);
    await sweep();
    expect(await askWith(assertion)).toMatchObject(refused);
    clock.advance(120_000);
    await sweep();
    expect([...store.assertions.getKeys()]).toEqual([]);
    expect(await askWith(assertion)).toMatchObject(refused);
  });

  const at = (seconds: number) => Math.floor(Date.UTC(2026, 0, 2, 3, 4, 5) / 1000) + seconds;
  test.each<[string, JWTPayload, object?]>([
    ['expires too late', { exp: at(361) }],
    ['has expired', { exp: at(-61) }],
    ['never expires', { exp: undefined as never }],
    ['was issued in the future', { iat: at(61) }],
    ['is not valid yet', { nbf: at(61) }],
    ['is for another audience', { aud: 'https://other.example' }],
    ['is for two audiences', { aud: ['https://auth.example', 'https://other.example'] }],
    ['has no audience', { aud: undefined as never }],
    ['has another issuer', { iss: 'client_other' }],
    ['has another subject', { sub: 'client_other' }],
    ['has no jti', { jti: undefined as never }],
    ['has an empty jti', { jti: '' }],
    ['has a number as jti', { jti: 7 as never }],
    ['has a long jti', { jti: 'j'.repeat(257) }],
    ['has an unknown kid', {}, { kid: 'second' }],
    ['has an unknown critical header', {}, { crit: ['x'], x: 1 }],
    ['is huge', { more: 'x'.repeat(4096) }],
  ])('an assertion is refused if it %s', async (_name, claims, header) => {
    const { id, sign, askWith, store } = await open();
    const assertion = await sign(claims, header).catch(() => 'unsignable');
    expect(await askWith(assertion, { client_id: id })).toMatchObject(refused);
    expect([...store.assertions.getKeys()]).toEqual([]);
  });

  test('an assertion signed by another key or algorithm is refused', async () => {
    const { id, sign, askWith, asserted, post, pair } = await open();
    const claims = (await sign()).split('.')[1];
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
    const spki = Buffer.from(pair.publicKey.export({ type: 'spki', format: 'pem' }) as string);
    const hmac = await new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(spki);
    const forged = [await sign({}, {}, es256().privateKey), none, hmac, 'a.b.c', 'x', `${await sign()}x`];
    for (const assertion of forged) expect(await askWith(assertion, { client_id: id })).toMatchObject(refused);
    const form = { ...asserted(await sign()), grant_type: 'client_credentials', client_secret: 'x' };
    expect(await post('/connect/token', form)).toMatchObject({ status: 400 });
    const typeless = { grant_type: 'client_credentials', client_assertion: await sign() };
    expect(await post('/connect/token', typeless)).toMatchObject({ status: 400 });
  });

  test('the refusal of an assertion does not reveal if its client exists', async () => {
    const { sign, askWith, addClient } = await open();
    const other = (await addClient('User')).apiKey.clientId;
    const responses = [];
    for (const sub of ['client_unknown', '__proto__', other, 'flagmeter-cli'])
      responses.push((await askWith(await sign({ iss: sub, sub }), { client_id: sub })).json);
    expect(new Set(responses.map((json) => JSON.stringify(json))).size).toBe(1);
    expect(responses[0]).toMatchObject({ error: 'invalid_client' });
  });

  test('an API key with a public key cannot authenticate with a secret instead', async () => {
    const { id, post } = await open();
    for (const secret of ['', '0'.repeat(64), 'x']) {
      const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
      expect(await post('/connect/token', form)).toMatchObject({ status: 401 });
    }
  });

  test('revocation, introspection and the device endpoint accept an assertion', async () => {
    const { sign, askWith, asserted, post, directory, team, pair } = await open();
    const { access_token: token } = (await askWith(await sign())).json;
    const introspected = await post('/connect/introspect', { token, ...asserted(await sign()) });
    expect(introspected.json).toMatchObject({ active: true });
    const revoked = await post('/connect/revocation', { token, ...asserted(await sign()) });
    expect(revoked).toMatchObject({ status: 200 });
    const publicKeys = await readPublicKeys([{ ...exportJwk(pair.publicKey), kid: 'first' }]);
    const wanted = { teamId: team.id, name: 'Shop', redirectUris: ['https://shop.example/'], confidential: true };
    const { client, clientSecret } = await createClient(directory, { ...wanted, publicKeys });
    expect(clientSecret).toBeNull();
    const { clientId } = client;
    const form = asserted(await sign({ iss: clientId, sub: clientId }));
    const device = await post('/connect/deviceauthorization', { scope: 'openid', ...form });
    expect(device).toMatchObject({ status: 200 });
    const alone = await post('/connect/deviceauthorization', { scope: 'openid', client_id: clientId });
    expect(alone).toMatchObject({ status: 401 });
  });

  test('the refusal of an expired API key names the reason', async () => {
    const { id, sign, askWith, directory, clock } = await open();
    const key = directory.apiKeys.get(id)!;
    await directory.change((tx) => tx.put('apiKeys', id, { ...key, expiresAt: directory.clock.now() + 1000 }));
    clock.advance(1000);
    const response = await askWith(await sign());
    expect(response).toMatchObject(refused);
    expect(response.json.error_description).toContain('has expired');
  });
});

describe('a public key', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const longRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = es256();
  test.each<[string, Record<string, unknown>[], RegExp]>([
    ['a private key', [exportJwk(ec.privateKey)], /private part/],
    ['a symmetric key', [{ kty: 'oct', k: 'c2VjcmV0' }], /private part/],
    ['a short RSA modulus', [exportJwk(rsa.publicKey)], /2048/],
    ['an RSA exponent of 1', [{ ...exportJwk(longRsa.publicKey), e: 'AQ' }], /exponent/],
    ['an RSA exponent of 3', [{ ...exportJwk(longRsa.publicKey), e: 'Aw' }], /exponent/],
    ['a huge RSA exponent', [{ ...exportJwk(longRsa.publicKey), e: exportJwk(longRsa.publicKey)['n'] }], /exponent/],
    ['another curve', [exportJwk(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)], /P-256/],
    ['another algorithm', [{ ...exportJwk(ec.publicKey), alg: 'HS256' }], /alg ES256/],
    ['a key for encryption', [{ ...exportJwk(ec.publicKey), use: 'enc' }], /use sig/],
    ['a malformed key', [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }], /well-formed/],
    ['an empty kid', [{ ...exportJwk(ec.publicKey), kid: '' }], /kid/],
    ['the same key twice', [exportJwk(ec.publicKey), exportJwk(ec.publicKey)], /same kid/],
    ['an empty list of keys', [], /1 to 5/],
    ['a list of six keys', Array.from({ length: 6 }, () => exportJwk(es256().publicKey)), /1 to 5/],
  ])('the public keys of a client are refused: %s', async (_name, jwks, message) => {
    const error = expect.objectContaining({ code: 'invalid_body', message: expect.stringMatching(message) });
    await expect(readPublicKeys(jwks)).rejects.toEqual(error);
  });
});
