import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteApiKey } from '../../../src/accounts/api-keys.ts';
import { newSigningKey } from '../../../src/accounts/signing-keys.ts';
import { openSigningKeys } from '../../../src/auth/oauth/key-ring.ts';
import { type AccessClaims, issueAccessToken, type Subject, TokenTotals } from '../../../src/auth/oauth/tokens.ts';
import { createBearer, UnauthorizedError } from '../../../src/auth/oauth/validation.ts';
import { type AuthFixture, type Client, createRequest, openAuthFixture } from '../fixture.ts';

interface BearerFixture extends AuthFixture {
  readonly client: Client;
  /** A valid token. */
  readonly token: string;
  /** The claims about the holder of the token. */
  readonly subject: Subject;
  check(authorization?: string): Promise<AccessClaims>;
}

async function openBearerFixture(): Promise<BearerFixture> {
  const fixture = await openAuthFixture();
  const { settings, team } = fixture;
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
  return {
    ...fixture,
    client,
    token: await issueAccessToken(settings, subject),
    subject,
    check: async (authorization) =>
      authenticate(createRequest('/', authorization === undefined ? {} : { headers: { authorization } })),
  };
}

async function expectRefused(checked: unknown, challenge = 'Bearer error="invalid_token"'): Promise<void> {
  const error = await Promise.resolve(checked).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UnauthorizedError);
  expect(error).toMatchObject({ code: 'unauthorized', status: 401, challenge });
}

describe('a token of another store', () => {
  const reason = 'The token was signed with a key that this server does not have';

  test('the rejection of a token of another store describes the reason, and is counted', async () => {
    const { settings, subject, check, clock } = await openBearerFixture();
    const keys = openSigningKeys([await newSigningKey(clock.now())]);
    const token = await issueAccessToken({ ...settings, keys }, subject);
    const lines: string[] = [];
    const log = { warn: (message: string) => void lines.push(message) };
    const totals = new TokenTotals({ log, clock });
    const authenticate = createBearer({ ...settings, totals });
    const request = createRequest('/', { headers: { authorization: `Bearer ${token}` } });
    for (let times = 0; times < 3; times += 1) await expect(authenticate(request)).rejects.toThrow(reason);
    expect(Object.fromEntries(totals.refused)).toEqual({ invalid: 0, unknown_key: 3 });
    expect(lines).toEqual(['rejected an access token of another store']);
    await expect(check(`Bearer ${token}`)).rejects.toMatchObject({
      challenge: expect.stringMatching(
        /^Bearer error="invalid_token", error_description="The token was signed [^"]*"$/,
      ),
    });
  });

  test('an expired, malformed or forged token is rejected without a description', async () => {
    const { settings, subject, check, clock, token } = await openBearerFixture();
    const keys = openSigningKeys([await newSigningKey(clock.now())]);
    const other = await issueAccessToken({ ...settings, keys }, subject);
    const foreign = await issueAccessToken({ ...settings, keys, issuer: 'https://elsewhere.example' }, subject);
    const [head, , signature] = token.split('.');
    const forged = `${head}.${other.split('.')[1]}.${signature}`;
    for (const each of [forged, foreign, `${other}.x`, other.replace('.', '..'), 'x.y.z'])
      await expectRefused(check(`Bearer ${each}`));
    clock.advance(3_600_000);
    await expectRefused(check(`Bearer ${other}`));
  });
});

describe('a valid token', () => {
  test('the scheme Bearer is accepted in any case', async () => {
    const { check, token, client, team } = await openBearerFixture();
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const claims = await check(`${scheme} ${token}`);
      expect(claims).toMatchObject({ sub: client.apiKey.clientId, role: 'User', team: [team.id] });
    }
  });

  test('a token is accepted until the second in which it expires', async () => {
    const { check, token, clock } = await openBearerFixture();
    clock.advance(3_599_000);
    await check(`Bearer ${token}`);
    clock.advance(1000);
    await expectRefused(check(`Bearer ${token}`));
  });

  test('a token is rejected after its API key is deleted', async () => {
    const { check, token, client, directory, team } = await openBearerFixture();
    await deleteApiKey(directory, team.id, client.apiKey.clientId);
    await expectRefused(check(`Bearer ${token}`));
  });

  test('a token of an older signing key is accepted while the key is published', async () => {
    const { settings, signingKey, token, clock } = await openBearerFixture();
    clock.advance(1000);
    const newer = await newSigningKey(clock.now());
    const keys = openSigningKeys([newer, signingKey]);
    expect(keys.current.kid).toBe(newer.kid);
    const request = createRequest('/', { headers: { authorization: `Bearer ${token}` } });
    await createBearer({ ...settings, keys })(request);
    const later = createBearer({ ...settings, keys: openSigningKeys([newer]) });
    await expect(later(request)).rejects.toThrow('signed with a key that this server does not have');
  });
});

test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Token abc', 'Bearer a b'])(
  'the challenge for a request without a token names no error (%j)',
  async (authorization) => {
    const { check } = await openBearerFixture();
    await expectRefused(check(authorization), 'Bearer');
  },
);

describe('a token with a good signature', () => {
  test.each<[string, Partial<Subject>]>([
    ['only the scope openid', { scope: 'openid' }],
    ['a scope that starts with the right one', { scope: 'openid flagmeter2' }],
    ['no scope', { scope: '' }],
    ['an unknown subject', { sub: 'user_nobody' }],
    ['an unknown client', { sub: 'client_nobody', client_id: 'client_nobody' }],
  ])('an access token with %s is refused', async (_, other) => {
    const { check, settings, subject } = await openBearerFixture();
    await expectRefused(check(`Bearer ${await issueAccessToken(settings, { ...subject, ...other })}`));
  });
});

test.each([
  ['rubbish', 'rubbish'],
  ['nothing but dots', '..'],
  ['something too long', 'A'.repeat(100_000)],
  ['an encrypted token', 'a.b.c.d.e'],
])('a malformed token is rejected: %s', async (_, token) => {
  const { check } = await openBearerFixture();
  await expectRefused(check(`Bearer ${token}`));
});

test('random bytes are rejected as a token', async () => {
  const { check } = await openBearerFixture();
  const token = randomBytes(200).toString('latin1');
  await expect(check(`Bearer ${token}`)).rejects.toBeInstanceOf(UnauthorizedError);
});

test('a store without signing keys cannot sign tokens', () => {
  expect(() => openSigningKeys([])).toThrow('Cannot sign tokens');
});
