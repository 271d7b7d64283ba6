import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { newSigningKey } from '../../../src/accounts/signing-keys.ts';
import { openSigningKeys } from '../../../src/auth/oauth/key-ring.ts';
import { readUnverified, signJwt } from '../../../src/auth/oauth/tokens.ts';
import { algorithms } from '../forgery.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encode({ alg: 'ES256' });
const payload = encode({ sub: 'x' });

test.each([
  ['a signed token', `${header}.${payload}.c2ln`],
  ['a token without a signature', `${encode({ alg: 'none' })}.${payload}.`],
  ['a token without claims', `${header}.${encode({})}.c2ln`],
  ['a token with a longer encoding than necessary', `${header}.${payload}.c2lnAA`],
])('readUnverified accepts %s', (_, text) => {
  expect(readUnverified(text)).toBeDefined();
});

test.each([
  ['no parts', ''],
  ['one part', header],
  ['two parts', `${header}.${payload}`],
  ['four parts', `${header}.${payload}.c2ln.c2ln`],
  ['five parts', `${header}.a.b.c.d`],
  ['a header that is not JSON', `abc.${payload}.c2ln`],
  ['a header that is not an object', `${encode([])}.${payload}.c2ln`],
  ['a header that is null', `${encode(null)}.${payload}.c2ln`],
  ['a header without an algorithm', `${encode({})}.${payload}.c2ln`],
  ['an algorithm that is not a string', `${encode({ alg: 1 })}.${payload}.c2ln`],
  ['claims that are not JSON', `${header}.abc.c2ln`],
  ['claims that are not an object', `${header}.${encode('x')}.c2ln`],
  ['padding', `${header}.${payload}.c2ln=`],
  ['the other alphabet of base64', `${header}.${payload}.c2l+/`],
])('readUnverified rejects a token with %s', (_, text) => {
  expect(readUnverified(text)).toBeUndefined();
});

describe.each(algorithms)('a JWT signed with %s', (alg) => {
  const claims = { sub: 'Zoë ☕ 𝄞', team: ['a', 'b'], aud: 'https://api.example', iat: 1, exp: 2 ** 33 };

  test.each(['at+jwt', 'JWT'] as const)(
    'jose verifies a signed token with the published keys and the type %s',
    async (typ) => {
      const key = await newSigningKey(0, alg);
      const keys = openSigningKeys([key]);
      const token = await signJwt(keys, typ, claims);
      const published = createLocalJWKSet({ keys: keys.published.map((jwk) => ({ ...jwk })) });
      const { payload, protectedHeader } = await jwtVerify(token, published, { typ, algorithms: [alg] });
      expect(payload).toEqual(claims);
      expect(protectedHeader).toEqual({ alg, typ, kid: key.kid });
    },
  );

  test('a JWT omits undefined claims, and is not valid with the signature of another JWT', async () => {
    const keys = openSigningKeys([await newSigningKey(0, alg)]);
    const token = await signJwt(keys, 'JWT', { ...claims, email: undefined });
    expect(readUnverified(token)?.claims).toEqual(claims);
    const [, , signature] = (await signJwt(keys, 'JWT', { ...claims, sub: 'x' })).split('.');
    const published = createLocalJWKSet({ keys: keys.published.map((jwk) => ({ ...jwk })) });
    const forged = `${token.slice(0, token.lastIndexOf('.'))}.${signature}`;
    await expect(jwtVerify(forged, published)).rejects.toThrow('signature verification failed');
  });
});
