import { createHmac, generateKeyPairSync, randomBytes, sign as signBytes } from 'node:crypto';
import { exportJWK, importJWK, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { deleteApiKey } from '../../src/accounts/api-keys.ts';
import { newSigningKey } from '../../src/accounts/new-signing-key.ts';
import { type AccessClaims, issueAccessToken } from '../../src/auth/access-token.ts';
import { createBearer, Unauthorized } from '../../src/auth/bearer.ts';
import { openSigningKeys } from '../../src/auth/signing-keys.ts';
import { type AuthFixture, type Client, openAuthFixture, requestOf } from './fixture.ts';

interface BearerFixture extends AuthFixture {
  readonly client: Client;
  /** A valid token. */
  readonly token: string;
  /** The claims that a valid token has at this time. */
  readonly claims: AccessClaims;
  check(authorization?: string): Promise<AccessClaims>;
  /** Signs with the real key whatever is wanted. */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

async function openBearerFixture(): Promise<BearerFixture> {
  const fixture = await openAuthFixture();
  const { settings, signingKey, clock, team } = fixture;
  const client = await fixture.addClient('User');
  const { clientId } = client.apiKey;
  const subject = {
    sub: clientId,
    client_id: clientId,
    scope: 'openid flagmeter',
    role: 'User' as const,
    team: [team.id],
    primaryTeam: team.id,
  };
  const authenticate = createBearer(settings);
  const key = await importJWK({ ...signingKey.privateJwk }, 'ES256');
  const iat = Math.floor(clock.now() / 1000);
  return {
    ...fixture,
    client,
    token: await issueAccessToken(settings, subject),
    claims: { ...subject, iss: settings.issuer, aud: settings.audience, iat, exp: iat + 3600, jti: 'j' },
    check: async (authorization) =>
      authenticate(requestOf('/', authorization === undefined ? {} : { headers: { authorization } })),
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: signingKey.kid, ...header })
        .sign(key),
  };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function expectRefused(checked: unknown, challenge = 'Bearer error="invalid_token"'): Promise<void> {
  const error = await Promise.resolve(checked).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Unauthorized);
  expect(error).toMatchObject({ code: 'unauthorized', status: 401, challenge });
}

describe('a valid token', () => {
  test('is taken, whatever the case of the scheme', async () => {
    const { check, token, client, team } = await openBearerFixture();
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const claims = await check(`${scheme} ${token}`);
      expect(claims).toMatchObject({ sub: client.apiKey.clientId, role: 'User', team: [team.id] });
    }
  });

  test('is taken until the second it expires', async () => {
    const { check, token, clock } = await openBearerFixture();
    clock.advance(3_599_000);
    await check(`Bearer ${token}`);
    clock.advance(1000);
    await expectRefused(check(`Bearer ${token}`));
  });

  test('is refused when its API key is deleted', async () => {
    const { check, token, client, directory, team } = await openBearerFixture();
    await deleteApiKey(directory, team.id, client.apiKey.clientId);
    await expectRefused(check(`Bearer ${token}`));
  });

  test('of an older signing key is taken too, while that key is known', async () => {
    const { settings, signingKey, token, clock } = await openBearerFixture();
    clock.advance(1000);
    const newer = await newSigningKey(clock.now());
    const keys = openSigningKeys([newer, signingKey]);
    expect(keys.current.kid).toBe(newer.kid);
    const request = requestOf('/', { headers: { authorization: `Bearer ${token}` } });
    await createBearer({ ...settings, keys })(request);
    await expectRefused(createBearer({ ...settings, keys: openSigningKeys([newer]) })(request));
  });
});

test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Token abc', 'Bearer a b'])(
  'without a token (%j) the challenge names no error',
  async (authorization) => {
    const { check } = await openBearerFixture();
    await expectRefused(check(authorization), 'Bearer');
  },
);

describe('the real key does not make a token valid', () => {
  const later = 4_000_000_000;
  test.each<[string, JWTPayload, Record<string, unknown>?]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'https://other.example' }],
    ['no audience', { aud: undefined as never }],
    ['no issuer', { iss: undefined as never }],
    ['no expiry', { exp: undefined as never }],
    ['no issue time', { iat: undefined as never }],
    ['no subject', { sub: undefined as never }],
    ['no id', { jti: undefined as never }],
    ['an empty id', { jti: '' }],
    ['no client', { client_id: undefined }],
    ['no scope', { scope: undefined }],
    ['no role', { role: undefined }],
    ['a role that is none', { role: 'Root' }],
    ['no team', { team: undefined }],
    ['a team that is no list', { team: 'team' }],
    ['only openid as scope', { scope: 'openid' }],
    ['a scope that contains the right one', { scope: 'openid flagmeter2' }],
    ['a subject that is not there', { sub: 'user_nobody' }],
    ['a time before which it is not valid', { nbf: later }],
    ['an ID token', {}, { typ: 'JWT' }],
    ['no type', {}, { typ: undefined }],
    ['an unknown key id', {}, { kid: 'unknown' }],
    ['no key id', {}, { kid: undefined }],
    ['a path as key id', {}, { kid: '../../dev/null' }],
    ['a prototype as key id', {}, { kid: '__proto__' }],
  ])('%s', async (_, claims, header) => {
    const { check, sign, claims: valid } = await openBearerFixture();
    await check(`Bearer ${await sign(valid)}`);
    await expectRefused(check(`Bearer ${await sign({ ...valid, ...claims }, header)}`));
  });
});

describe('an attacker without the key', () => {
  test.each(['none', 'None', ''])('cannot use alg %j', async (alg) => {
    const { check, claims, signingKey } = await openBearerFixture();
    const unsigned = `${encode({ alg, typ: 'at+jwt', kid: signingKey.kid })}.${encode(claims)}`;
    for (const signature of ['', 'A'.repeat(86)])
      await expectRefused(check(`Bearer ${unsigned}.${signature}`));
  });

  test('cannot sign with the public key as an HMAC secret', async () => {
    const { check, claims, settings, signingKey } = await openBearerFixture();
    const input = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: signingKey.kid })}.${encode(claims)}`;
    const mac = createHmac('sha256', JSON.stringify(settings.keys.published[0]))
      .update(input)
      .digest('base64url');
    await expectRefused(check(`Bearer ${input}.${mac}`));
  });

  test.each(['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64'])(
    'cannot bring a key of his own or change the rules by %s',
    async (member) => {
      const { check, claims, signingKey } = await openBearerFixture();
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const own: Record<string, unknown> = {
        jwk: await exportJWK(publicKey),
        jku: 'https://evil.example/jwks.json',
        x5u: 'https://evil.example/cert.pem',
        x5c: ['MIIB'],
        crit: ['b64'],
        b64: false,
      };
      const header = { alg: 'ES256', typ: 'at+jwt', kid: signingKey.kid, [member]: own[member] };
      const input = `${encode(header)}.${encode(claims)}`;
      const signature = signBytes('sha256', Buffer.from(input), {
        key: privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      await expectRefused(check(`Bearer ${input}.${signature.toString('base64url')}`));
    },
  );

  test('cannot write the same token another way', async () => {
    const { check, token } = await openBearerFixture();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.at(-1) ?? '');
    for (const spare of [1, 2, 4, 8]) {
      await expectRefused(check(`Bearer ${token.slice(0, -1)}${alphabet[last + spare]}`));
    }
    for (const text of [
      `${token}=`,
      `${token}.`,
      `${token}A`,
      token.slice(0, -1),
      token.replace('.', '..'),
    ]) {
      await expectRefused(check(`Bearer ${text}`));
    }
  });

  test('cannot change a single character', async () => {
    const { check, token } = await openBearerFixture();
    for (let at = 0; at < token.length; at += 7) {
      const other = token[at] === 'A' ? 'B' : 'A';
      await expectRefused(check(`Bearer ${token.slice(0, at)}${other}${token.slice(at + 1)}`));
    }
  });

  test.each([
    ['rubbish', 'rubbish'],
    ['nothing but dots', '..'],
    ['an oversized token', `${'A'.repeat(9000)}.A.${'A'.repeat(86)}`],
    ['a header that is no JSON', `${'A'.repeat(20)}.e30.${'A'.repeat(86)}`],
    ['an encrypted token', 'a.b.c.d.e'],
    ['random bytes', randomBytes(200).toString('latin1')],
  ])('cannot pass with %s', async (_, token) => {
    const { check } = await openBearerFixture();
    await expect(check(`Bearer ${token}`)).rejects.toBeInstanceOf(Unauthorized);
  });

  test('cannot pass with a real token that is longer than it may be', async () => {
    const { check, sign, claims } = await openBearerFixture();
    await expectRefused(check(`Bearer ${await sign({ ...claims, name: 'x'.repeat(9000) })}`));
  });
});

test('an empty store cannot sign', () => {
  expect(() => openSigningKeys([])).toThrow('Cannot sign tokens');
});
