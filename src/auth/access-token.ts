import { jwtVerify, SignJWT } from 'jose';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import type { SigningKeys } from './signing-keys.ts';

/** How long an access token lasts, seconds. */
export const accessTokenLifetime = 3600;

/** What a longer token is refused for, unread. */
const longestToken = 8192;

/** Three base64url parts, the last one 64 bytes whose four spare bits are zero: one token, one text. */
const compactEs256 = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/** The claims of our access tokens (RFC 9068 §2.2, and the subject's role and teams). Times are Unix seconds. */
const claims = Type.Object({
  iss: Type.String(),
  sub: Type.String(),
  aud: Type.String(),
  exp: Type.Integer(),
  iat: Type.Integer(),
  jti: Type.String({ minLength: 1 }),
  client_id: Type.String(),
  scope: Type.String(),
  role: Type.Union([Type.Literal('Admin'), Type.Literal('User')]),
  team: Type.Array(Type.String()),
  primaryTeam: Type.String(),
  email: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
});
const claimsChecker = Compile(claims);

export type AccessClaims = Static<typeof claims>;

/** What a grant decides of a token's claims; the rest is the same for all tokens. */
export type Subject = Omit<AccessClaims, 'iss' | 'aud' | 'exp' | 'iat' | 'jti'>;

/** What tokens are issued and verified with. */
export interface TokenSettings {
  /** `iss`: the public URL of the auth host. */
  readonly issuer: string;
  /** `aud`: the public URL of the management API. */
  readonly audience: string;
  readonly keys: SigningKeys;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** A token that is not one of ours, or no longer valid. Says nothing about why: that is for nobody to learn. */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken';
}

/** Signs an access token for a subject: a JWT by RFC 9068, ES256, valid for `accessTokenLifetime`. */
export function issueAccessToken(settings: TokenSettings, subject: Subject): Promise<string> {
  const { current } = settings.keys;
  const issuedAt = Math.floor(settings.clock.now() / 1000);
  const jti = Buffer.from(settings.randomBytes(16)).toString('base64url');
  return new SignJWT({ ...subject, jti })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: current.kid })
    .setIssuer(settings.issuer)
    .setAudience(settings.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + accessTokenLifetime)
    .sign(current.privateKey);
}

/**
 * Verifies an access token: form, signature by one of our keys, type, issuer, audience, times and claims.
 * @throws {InvalidToken}
 */
export async function verifyAccessToken(settings: TokenSettings, token: string): Promise<AccessClaims> {
  if (token.length > longestToken || !compactEs256.test(token))
    throw new InvalidToken('The token is not valid');
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => publicKey(settings.keys, kid), {
      algorithms: ['ES256'],
      typ: 'at+jwt',
      issuer: settings.issuer,
      audience: settings.audience,
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id', 'scope', 'role', 'team'],
      currentDate: new Date(settings.clock.now()),
    });
    if (claimsChecker.Check(payload)) return payload;
  } catch {
    // Whatever was wrong, the answer is the same.
  }
  throw new InvalidToken('The token is not valid');
}

function publicKey(keys: SigningKeys, kid: unknown): CryptoKey {
  const key = typeof kid === 'string' ? keys.find(kid) : undefined;
  if (!key) throw new InvalidToken('The token is not valid');
  return key;
}
