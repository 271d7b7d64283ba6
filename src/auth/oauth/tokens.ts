import { sign } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import Type, { type Static } from 'typebox';
import type { AccountStore, Reader, Transaction } from '../../accounts/store/account-store.ts';
import { sortedKey } from '../../accounts/store/sweep.ts';
import { role } from '../../contract/shapes/user.ts';
import type { Clock } from '../../runtime/clock.ts';
import { compiled } from '../../runtime/compiled.ts';
import { increase } from '../../runtime/counts.ts';
import type { Log } from '../../runtime/log.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { accessTokenLifetime, type SigningKeys, type TokenType } from './key-ring.ts';
import type { TokenSettings } from './services.ts';

const encoder = new TextEncoder();

/**
 * Signs claims with the current key, as a JWS in compact form (RFC 7515 §3.1). `SignJWT` of jose costs twice as much,
 * because it copies and checks the claims, and encodes the header again for each token.
 */
export function signJwt({ current }: SigningKeys, typ: TokenType, claims: JWTPayload): Promise<string> {
  const { alg, privateKey, headers } = current;
  const input = `${headers[typ]}.${base64url(Buffer.from(JSON.stringify(claims)))}`;
  // Ed25519 has its own digest (RFC 8037 §3.1). ECDSA signatures in a JWS are not in ASN.1 (RFC 7518 §3.4).
  const hash = alg === 'EdDSA' ? null : 'sha256';
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return new Promise((resolve, reject) => {
    // The callback makes the runtime sign on a thread of its pool.
    sign(hash, encoder.encode(input), key, (error, signature) =>
      error ? reject(error) : resolve(`${input}.${base64url(signature)}`),
    );
  });
}

/** The required claims. jose checks none of them by default. */
type ExpectedClaims = Pick<JWTVerifyOptions, 'audience'> &
  Required<Pick<JWTVerifyOptions, 'issuer' | 'requiredClaims' | 'currentDate'>>;

/**
 * The claims of a token that one of our keys signed; `undefined` for any other token. A token must have exactly the
 * form that `signJwt` writes, without repeated claims or other encodings. The whole header is compared before any
 * cryptography, so a token can neither select an algorithm or type nor include a key.
 */
async function verifyJwt(
  keys: SigningKeys,
  typ: TokenType,
  token: string,
  expected: ExpectedClaims,
): Promise<JWTPayload | undefined> {
  const [header = '', payload, signature = ''] = token.split('.', 3);
  const verifier = keys.find(typ, header);
  if (verifier === undefined || base64url(Buffer.from(signature, 'base64url')) !== signature) return undefined;
  const options = { ...expected, typ, algorithms: [verifier.alg] };
  try {
    const { payload: claims } = await jwtVerify(token, verifier.publicKey, options);
    return base64url(Buffer.from(JSON.stringify(claims))) === payload ? claims : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url');
}

/** The unverified header and claims of a token; `undefined` unless it is a well-formed, signed JWT. */
export function readUnverified(
  token: string,
): { readonly header: ProtectedHeaderParameters; readonly claims: JWTPayload } | undefined {
  if (!compactForm.test(token)) return undefined;
  try {
    const header = decodeProtectedHeader(token);
    return typeof header.alg === 'string' ? { header, claims: decodeJwt(token) } : undefined;
  } catch {
    return undefined;
  }
}

/** Three parts in base64url without padding (RFC 7515 §7.1). jose is more lenient. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Allowed algorithms of tokens that other issuers sign. None of them uses a shared secret. */
export const asymmetric = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Accepted clock difference between this service and a client or provider, seconds. */
export const clockTolerance = 60;

/** True if a provider's time (seconds) is in the future, beyond the clock tolerance. @param now Unix ms */
export function isLater(time: number | undefined, now: number): boolean {
  return time !== undefined && time > now / 1000 + clockTolerance;
}

/** Maximum token length. A longer token is rejected without parsing. */
const longestToken = 8192;

/**
 * Claims of our access tokens: RFC 9068 §2.2, plus the subject's role and teams. Times are Unix seconds. Tokens with
 * other claims are rejected: an unknown claim, such as `nbf`, might restrict the token's use.
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

/** The claims that a grant determines. The other claims are the same for all tokens. */
export type Subject = Omit<AccessClaims, 'iss' | 'aud' | 'exp' | 'iat' | 'jti'>;

/**
 * Rejects a token that is forged, expired or revoked. The error omits the reason, because it could help an attacker.
 * Only an unknown signing key is reported, because the JWKS is public. Tokens from before the replacement of a data
 * directory have such a key.
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

/** Identifies a token: its id and its times in Unix seconds. */
export type TokenIdentity = Pick<AccessClaims, 'jti' | 'iat' | 'exp'>;

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
  const expected = { issuer, audience, requiredClaims: claims.required, currentDate: new Date(clock.now()) };
  const verified = await verifyJwt(keys, 'at+jwt', token, expected);
  if (claimsChecker().Check(verified)) return verified;
  throw new InvalidToken(isOfAnotherStore(settings, token) ? 'unknown_key' : 'invalid');
}

/** True if a token has the form of our access tokens, but an unknown key id. The signature is not verified. */
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

/** The claims that are read from an ID token used as a hint. */
const hint = Type.Object({ iss: Type.String(), sub: Type.String(), aud: Type.String(), sid: Type.String() });
const hintChecker = compiled(hint);

/** The user (`sub`), the client (`aud`) and the session (`sid`) of an ID token. */
export type IdTokenHint = Static<typeof hint>;

interface SignedIn {
  readonly user: User;
  readonly clientId: string;
  readonly session: string;
  readonly scopes: readonly string[];
  /** The time when the user signed in, seconds. */
  readonly authTime: number;
  /** The nonce of the client's authorization request; `null` if absent, and for a refresh. */
  readonly nonce: string | null;
}

/** Signs an ID token (OpenID Connect Core §2), with the lifetime of an access token. */
export function issueIdToken(settings: TokenSettings, signedIn: SignedIn): Promise<string> {
  const { user, clientId, session, scopes, authTime, nonce } = signedIn;
  const iat = Math.floor(settings.clock.now() / 1000);
  return signJwt(settings.keys, 'JWT', {
    iss: settings.issuer,
    sub: user.id,
    aud: clientId,
    iat,
    exp: iat + accessTokenLifetime,
    auth_time: authTime,
    ...(nonce === null ? {} : { nonce }),
    sid: session,
    ...(scopes.includes('email') ? emailClaims(user) : {}),
  });
}

/** The claims of the scope `email` (OpenID Connect Core §5.4). Addresses are never verified. */
export function emailClaims({ email }: User): { readonly email: string; readonly email_verified: false } {
  return { email, email_verified: false };
}

/** Reads an ID token that we issued, even an expired one (OpenID Connect RP-Initiated Logout §2). */
export async function readIdTokenHint(
  { keys, issuer }: TokenSettings,
  token: string,
): Promise<IdTokenHint | undefined> {
  const atAnyTime = new Date(0);
  const expected = { issuer, requiredClaims: hint.required, currentDate: atAnyTime };
  const claims = await verifyJwt(keys, 'JWT', token, expected);
  return hintChecker().Check(claims) ? claims : undefined;
}

/**
 * The invalidation list: unexpired access tokens that are rejected. The list is on disk, and is read once per token,
 * when the signature is verified. Adding a token removes it from the cache of verified tokens.
 */

/** A token in the list: its `jti`, and its `exp` in seconds. */
export type TokenReference = Pick<TokenIdentity, 'jti' | 'exp'>;

export function invalidationKey({ jti, exp }: TokenReference): string {
  return sortedKey(exp, jti);
}

export function addToList(tx: Pick<Transaction, 'put'>, token: TokenReference): void {
  tx.put('invalidated', invalidationKey(token), true);
}

/** True if a token is on the invalidation list, on disk or in the transaction. */
export function isOnList(reader: Pick<Reader, 'has'>, token: TokenReference): boolean {
  return reader.has('invalidated', invalidationKey(token));
}

/** Minimum interval between two warnings about tokens that an unknown key signed, ms. */
const repeatMs = 60_000;

export class TokenTotals {
  /** Number of access tokens, by grant. */
  readonly issued = new Map<string, number>();
  /** Number of tokens added to the invalidation list; with PostgreSQL, by all nodes. */
  invalidated = 0;
  readonly refused = new Map<InvalidToken['reason'], number>([
    ['invalid', 0],
    ['unknown_key', 0],
  ]);
  readonly #log: Pick<Log, 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor({ log, clock }: { readonly log: Pick<Log, 'warn'>; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#log = log;
    this.#clock = clock;
  }

  countIssued(grant: string): void {
    increase(this.issued, grant);
  }

  countRefused(reason: InvalidToken['reason']): void {
    increase(this.refused, reason);
    const now = this.#clock.monotonic();
    if (reason !== 'unknown_key' || now - this.#warnedAt < repeatMs) return;
    this.#warnedAt = now;
    const hint = 'if the data directory was replaced or restored, clients must sign in again for new tokens';
    this.#log.warn('rejected an access token of another store', { hint });
  }

  watch(accountStore: Pick<AccountStore, 'onCommit'>): void {
    accountStore.onCommit((writes) => {
      for (const { table, value } of writes) if (table === 'invalidated' && value !== undefined) this.invalidated += 1;
    });
  }
}
