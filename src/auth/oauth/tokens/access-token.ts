/*
 * src/auth/oauth/tokens: the formats of tokens. bearer.ts and validate-token.ts check access tokens, and invalidation.ts keeps the list of
 * invalidated tokens.
 */
import Type, { type Static } from 'typebox';
import type { RandomBytes } from '../../../accounts/secrets.ts';
import { role } from '../../../contract/shapes/user.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { compiled } from '../../../runtime/compiled.ts';
import { readUnverified, signJwt, verifyJwt } from '../keys/jwt.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { accessTokenLifetime } from '../keys/signing-keys.ts';

/** Maximum token length. A longer token is rejected unread. */
const longestToken = 8192;

/**
 * The claims of our access tokens: RFC 9068 §2.2, plus the subject's role and teams. Times are Unix seconds. Tokens with other
 * claims are rejected: an unknown claim, such as `nbf`, might restrict the token's use.
 */
const claims = Type.Object(
  {
    iss: Type.String(),
    sub: Type.String(),
    aud: Type.String(),
    exp: Type.Integer(),
    iat: Type.Integer(),
    jti: Type.String({ minLength: 1 }),
    client_id: Type.String(),
    scope: Type.String(),
    role,
    team: Type.Array(Type.String()),
    primaryTeam: Type.String(),
    email: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    /** The key of the session that a user's token belongs to. */
    sid: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
const claimsChecker = compiled(claims);

export type AccessClaims = Static<typeof claims>;

/** The claims that a grant determines. The others are the same for all tokens. */
export type Subject = Omit<AccessClaims, 'iss' | 'aud' | 'exp' | 'iat' | 'jti'>;

export interface TokenSettings {
  /** `iss`: the public URL of the auth host. */
  readonly issuer: string;
  /** `aud`: the public URL of the management API. */
  readonly audience: string;
  readonly keys: SigningKeys;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Rejects a token that is forged, expired or revoked. The error omits the reason, which could help an attacker. The exception is
 * an unknown signing key, which the JWKS reveals anyway. Tokens have one after a data directory was replaced.
 */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken';
  readonly reason: 'invalid' | 'unknown_key';

  constructor(reason: InvalidToken['reason'] = 'invalid') {
    super(reason === 'invalid' ? 'The token is not valid' : ofAnotherStore);
    this.reason = reason;
  }
}

const ofAnotherStore =
  'The token was signed with a key that this server does not have: it comes from another server or data directory. Get a new token';

/** Identifies a token: its id, and its times in Unix seconds. */
export type TokenIdentity = Pick<AccessClaims, 'jti' | 'iat' | 'exp'>;

/** The identity of a token issued now. @param lifetime seconds */
export function newTokenIdentity(
  { clock, randomBytes }: Pick<TokenSettings, 'clock' | 'randomBytes'>,
  lifetime = accessTokenLifetime,
): TokenIdentity {
  const iat = Math.floor(clock.now() / 1000);
  const jti = Buffer.from(randomBytes(16)).toString('base64url');
  return { jti, iat, exp: iat + lifetime };
}

/** Signs an access token for a subject: a JWT as in RFC 9068, valid for `accessTokenLifetime`. */
export function issueAccessToken(
  settings: TokenSettings,
  subject: Subject,
  identity = newTokenIdentity(settings),
): Promise<string> {
  const { keys, issuer, audience } = settings;
  return signJwt(keys, 'at+jwt', { ...subject, iss: issuer, aud: audience, ...identity });
}

/**
 * Verifies an access token: length, header, signature by one of our keys, claims, issuer, audience and expiry.
 * @throws {InvalidToken}
 */
export async function verifyAccessToken(settings: TokenSettings, token: string): Promise<AccessClaims> {
  if (token.length > longestToken) throw new InvalidToken();
  const { keys, issuer, audience, clock } = settings;
  const expected = {
    issuer,
    audience,
    requiredClaims: claims.required,
    currentDate: new Date(clock.now()),
  };
  const verified = await verifyJwt(keys, 'at+jwt', token, expected);
  if (claimsChecker().Check(verified)) return verified;
  throw new InvalidToken(isOfAnotherStore(settings, token) ? 'unknown_key' : 'invalid');
}

/** Whether a token has the form of ours but is signed with a key that we do not have. Its signature is not verified. */
function isOfAnotherStore({ keys, issuer, audience, clock }: TokenSettings, token: string): boolean {
  const { header, claims } = readUnverified(token) ?? {};
  return (
    header?.typ === 'at+jwt' &&
    typeof header.kid === 'string' &&
    keys.published.every(({ kid }) => kid !== header.kid) &&
    claimsChecker().Check(claims) &&
    claims.iss === issuer &&
    claims.aud === audience &&
    clock.now() < claims.exp * 1000
  );
}
