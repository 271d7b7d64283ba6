import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { matchesSubject } from '../../../accounts/subject-pattern.ts';
import type { Trust } from '../../../storage/lmdb/auth-records.ts';
import { clockLeeway } from '../clients/client-assertion.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { isLater, readUnverified } from '../keys/jwt.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** Maximum size of a workload token. A longer one is rejected unread. */
const longestToken = 8192;
const longestSubject = 1024;

/** Asymmetric algorithms only. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const invalidSubjectToken = 'The subject token is not valid';
const issuerAway = 'The keys of the issuer cannot be read; retry later';

export interface WorkloadDeps {
  readonly issuerKeys: Pick<IssuerKeys, 'of'>;
}

/**
 * Verifies the token of a workload, such as a CI job, against the trust of an API key. The cheap comparisons come first, so that
 * only tokens of the trusted issuer cause requests to it.
 * @param now Unix ms
 * @returns its subject
 * @throws {OAuthError} `invalid_request`, which names the claim that does not match (RFC 8693 §2.2.2);
 *   `temporarily_unavailable`
 */
export async function verifyWorkload(
  { issuerKeys }: WorkloadDeps,
  trust: Trust,
  token: string,
  now: number,
): Promise<string> {
  const unverified = token.length > longestToken ? undefined : readUnverified(token);
  if (unverified === undefined || !algorithms.includes(String(unverified.header.alg))) throw refusal();
  if (unverified.claims.iss !== trust.issuer) throw mismatch('iss', unverified.claims.iss);
  const keys = inlineKeys(trust) ?? (await issuerKeys.of(trust.issuer, unverified.header.kid));
  if (keys === undefined)
    throw new OAuthError('temporarily_unavailable', issuerAway, { status: 503, retryAfter: 30 });
  const claims = await verifiedClaims(token, keys, trust.issuer, now);
  if (isLater(claims.iat, now)) throw refusal('check its claim iat');
  return checkClaims(trust, claims);
}

/** @throws {OAuthError} */
async function verifiedClaims(
  token: string,
  keys: JSONWebKeySet,
  issuer: string,
  now: number,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms,
      issuer,
      requiredClaims: ['aud', 'exp', 'sub'],
      clockTolerance: clockLeeway,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refusal('it has expired');
    if (error instanceof errors.JWTClaimValidationFailed) throw refusal(`check its claim ${error.claim}`);
    if (error instanceof errors.JWKSNoMatchingKey) throw refusal('the issuer has no such key');
    // Malformed keys of the issuer are TypeErrors.
    throw refusal();
  }
}

/** @throws {OAuthError} */
function checkClaims({ audience, subject, claims = [] }: Trust, token: JWTPayload): string {
  const { aud, sub } = token;
  if (![aud].flat().includes(audience)) throw mismatch('aud', aud);
  if (typeof sub !== 'string' || sub.length > longestSubject || !matchesSubject(subject, sub))
    throw mismatch('sub', sub);
  for (const [name, wanted] of claims) {
    const value = Object.hasOwn(token, name) ? token[name] : undefined;
    if (value !== wanted) throw mismatch(name, value);
  }
  return sub;
}

function inlineKeys({ publicKeys }: Trust): JSONWebKeySet | undefined {
  return publicKeys && { keys: publicKeys.map(({ kid, alg, publicJwk }) => ({ ...publicJwk, kid, alg })) };
}

function refusal(why?: string): OAuthError {
  const detail = why === undefined ? '' : `: ${why}`;
  return new OAuthError('invalid_request', `${invalidSubjectToken}${detail}`);
}

/** Names the claim and its value, which the sender knows, but not what the trust requires. */
function mismatch(claim: string, value: unknown): OAuthError {
  const shown = JSON.stringify(value)?.slice(0, 300) ?? 'missing';
  const must = `its claim ${claim} is ${shown}, which the trust of this API key does not match`;
  return new OAuthError('invalid_request', `The subject token is not trusted: ${must}`);
}
