import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { matchesSubject } from '../../accounts/trusts.ts';
import type { OutboundFetch } from '../../http/outbound/fetch.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Trust } from '../../storage/lmdb/auth-records.ts';
import { OAuthError } from './oauth-error.ts';
import { asymmetric, clockTolerance, isLater, readUnverified } from './tokens.ts';

/** Maximum size of a workload token. A longer token is rejected without parsing. */
const longestToken = 8192;
const longestSubject = 1024;

const invalidSubjectToken = 'The subject token is not valid';
const issuerAway = 'The keys of the issuer cannot be read; retry later';

/**
 * Verifies the token of a workload, such as a CI job, against the trust of an API key. The issuer is compared first, so
 * that only tokens of the trusted issuer cause requests to it.
 * @param now Unix ms
 * @returns the subject of the token
 * @throws {OAuthError} `invalid_request`, which names the claim that does not match (RFC 8693 §2.2.2);
 *   `temporarily_unavailable`
 */
export async function verifyWorkload(
  issuerKeys: Pick<IssuerKeys, 'of'>,
  trust: Trust,
  token: string,
  now: number,
): Promise<string> {
  const unverified = token.length > longestToken ? undefined : readUnverified(token);
  if (unverified === undefined || !asymmetric.includes(String(unverified.header.alg))) throw refusal();
  if (unverified.claims.iss !== trust.issuer) throw mismatch('iss', unverified.claims.iss);
  const keys = inlineKeys(trust) ?? (await issuerKeys.of(trust.issuer, unverified.header.kid));
  if (keys === undefined) throw new OAuthError('temporarily_unavailable', issuerAway, { status: 503, retryAfter: 30 });
  const claims = await verifiedClaims(token, keys, trust.issuer, now);
  if (isLater(claims.iat, now)) throw refusal('check its claim iat');
  return checkClaims(trust, claims);
}

/** @throws {OAuthError} */
async function verifiedClaims(token: string, keys: JSONWebKeySet, issuer: string, now: number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: asymmetric,
      issuer,
      requiredClaims: ['aud', 'exp', 'sub'],
      clockTolerance,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refusal('it has expired');
    if (error instanceof errors.JWTClaimValidationFailed) throw refusal(`check its claim ${error.claim}`);
    if (error instanceof errors.JWKSNoMatchingKey) throw refusal('the issuer has no such key');
    // Also refuses malformed keys of the issuer, which cause a TypeError.
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

/**
 * The refusal for a claim that does not match. It shows the sent value, but not the required value, because the sender
 * might be an attacker.
 */
function mismatch(claim: string, value: unknown): OAuthError {
  const shown = JSON.stringify(value)?.slice(0, 300) ?? 'missing';
  const must = `its claim ${claim} is ${shown}, which the trust of this API key does not match`;
  return new OAuthError('invalid_request', `The subject token is not trusted: ${must}`);
}

interface IssuerKeysDeps {
  readonly fetchFromIssuer: OutboundFetch;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Log, 'warn'>;
}

/** Time after which the keys of an issuer are read again. */
const freshMs = 10 * 60_000;
/** Time for which the last keys are used while an issuer is unreachable. */
const keptMs = 24 * 3_600_000;
/** Minimum interval between two attempts to read the keys of an issuer, however many tokens arrive. */
const betweenMs = 30_000;
/** Maximum number of issuers whose keys are in memory. */
const maxIssuers = 100;

interface Entry {
  keys: JSONWebKeySet | undefined;
  readAt: number;
  triedAt: number;
  reading: Promise<void> | undefined;
}

/** A cache of the public keys of trusted issuers, which are found by OpenID Connect Discovery (§4). */
export class IssuerKeys {
  readonly #deps: IssuerKeysDeps;
  /** Cached keys by issuer. The least recently used issuer comes first. */
  readonly #entries = new Map<string, Entry>();

  constructor(deps: IssuerKeysDeps) {
    this.#deps = deps;
  }

  /**
   * The keys of an issuer. Reads the keys again if they are old, or if they do not include the key of a token.
   * @returns `undefined` if the keys cannot be read
   */
  async of(issuer: string, kid: string | undefined): Promise<JSONWebKeySet | undefined> {
    const entry = this.#getEntry(issuer);
    const age = () => this.#deps.clock.monotonic() - entry.readAt;
    const isKnown = kid === undefined || entry.keys?.keys.some((key) => key.kid === kid);
    if (entry.keys === undefined || age() >= freshMs || !isKnown) await this.#read(issuer, entry);
    return age() < keptMs ? entry.keys : undefined;
  }

  #getEntry(issuer: string): Entry {
    const entry = this.#entries.get(issuer) ?? {
      keys: undefined,
      readAt: Number.NEGATIVE_INFINITY,
      triedAt: Number.NEGATIVE_INFINITY,
      reading: undefined,
    };
    this.#entries.delete(issuer);
    this.#entries.set(issuer, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxIssuers && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }

  /** Reads the keys of an issuer, in one attempt at a time. A failure leaves the keys unchanged. */
  async #read(issuer: string, entry: Entry): Promise<void> {
    const { clock, log } = this.#deps;
    if (entry.reading === undefined && clock.monotonic() - entry.triedAt < betweenMs) return;
    entry.triedAt = clock.monotonic();
    entry.reading ??= this.#fetch(issuer)
      .then(
        (keys) => {
          entry.keys = keys;
          entry.readAt = clock.monotonic();
        },
        (error) => log.warn('cannot read the keys of an issuer', { issuer, error }),
      )
      .finally(() => {
        entry.reading = undefined;
      });
    await entry.reading;
  }

  async #fetch(issuer: string): Promise<JSONWebKeySet> {
    const metadata = await this.#json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (metadata.get('issuer') !== issuer) throw new Error('its discovery document names another issuer');
    const url = metadata.get('jwks_uri');
    if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('its discovery document has no jwks_uri');
    const keys = (await this.#json(url)).get('keys');
    if (!Array.isArray(keys)) throw new Error('its key set has no keys');
    return { keys: keys.filter((key) => typeof key === 'object' && key !== null) };
  }

  async #json(url: string): Promise<ReadonlyMap<string, unknown>> {
    const response = await this.#deps.fetchFromIssuer(url, { headers: { accept: 'application/json' } });
    if (response.status !== 200) throw new Error(`it responded with ${response.status}`);
    const json: unknown = await response.json();
    return new Map(Object.entries(typeof json === 'object' && json !== null ? json : {}));
  }
}
