import type { JSONWebKeySet, JWTPayload, JWTVerifyOptions } from 'jose';
import type { Static } from 'typebox';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { type ProviderRefusalCode, providerRefusals } from '../../contract/provider-refusals.ts';
import type { ProviderCheck } from '../../contract/shapes/identity-provider.ts';
import type { OutboundFetch } from '../../http/outbound/fetch.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import { asymmetric, clockTolerance, isLater } from '../oauth/tokens.ts';
import { ProviderRefusal, unanswered } from './provider-refusal.ts';

const url = Type.String({ pattern: '^https?://[^\\s]+$', maxLength: 2048 });
const words = Type.Array(Type.String());

/** The fields that this service reads from a discovery document (OpenID Connect Discovery 1.0 §3). */
const Metadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: url,
  token_endpoint: url,
  jwks_uri: url,
  userinfo_endpoint: Type.Optional(url),
  end_session_endpoint: Type.Optional(url),
  id_token_signing_alg_values_supported: Type.Optional(words),
  token_endpoint_auth_methods_supported: Type.Optional(words),
  authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
  backchannel_logout_supported: Type.Optional(Type.Boolean()),
});
type IssuerMetadata = Static<typeof Metadata>;

const KeySet = Type.Object({ keys: Type.Array(Type.Object({ kty: Type.String() })) });

const freshMs = 10 * 60_000;
/** Time for which a failure is cached, because unauthenticated senders can cause requests to an issuer. */
const failedMs = 5_000;
/** Minimum interval between two requests for the keys of an issuer whose tokens have unknown key ids. */
const betweenKeysMs = 10_000;
/** Maximum number of issuers in memory. */
const most = 64;

interface CachedDocument<Document> {
  readonly at: number;
  hasFailed: boolean;
  readonly document: Promise<Document>;
}

/** The discovery documents and keys of issuers, read on demand. */
export class Issuers {
  readonly #fetch: OutboundFetch;
  readonly #clock: Clock;
  readonly #metadata = new Map<string, CachedDocument<IssuerMetadata>>();
  readonly #keys = new Map<string, CachedDocument<JSONWebKeySet>>();

  constructor(fetch: OutboundFetch, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /**
   * The discovery document of an issuer.
   * @throws {ProviderRefusal} `provider_unreachable`, `provider_private_address`, `provider_document_invalid`,
   *   `issuer_mismatch`
   */
  metadata(issuer: string): Promise<IssuerMetadata> {
    return this.#read(this.#metadata, issuer, freshMs, async () => {
      const document = await this.#get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
      const found = Value.Check(Metadata, document) ? Value.Clean(Metadata, document) : undefined;
      if (found === undefined) throw new ProviderRefusal('provider_document_invalid');
      const metadata = found as IssuerMetadata;
      if (metadata.issuer !== issuer) throw new ProviderRefusal('issuer_mismatch');
      return metadata;
    });
  }

  forget(issuer: string): void {
    this.#metadata.delete(issuer);
    this.#keys.delete(issuer);
  }

  /** Reads the keys of an issuer. @throws {ProviderRefusal} as `metadata` */
  async keys(issuer: string, freshFor = freshMs): Promise<JSONWebKeySet> {
    const { jwks_uri: address } = await this.metadata(issuer);
    return this.#read(this.#keys, issuer, freshFor, async () => {
      const document = await this.#get(address);
      if (!Value.Check(KeySet, document)) throw new ProviderRefusal('provider_document_invalid');
      return document as JSONWebKeySet;
    });
  }

  /**
   * Verifies a token of an issuer, and returns its claims. If the token has an unknown key, the keys are read again.
   * @throws {ProviderRefusal} as `metadata`, and `signature_invalid`, `issuer_mismatch`, `audience_mismatch`,
   *   `token_expired`, `id_token_invalid`
   */
  async verify(
    token: string,
    expected: Required<Pick<JWTVerifyOptions, 'audience'>> & { readonly issuer: string; readonly typ?: string },
  ): Promise<JWTPayload> {
    const { createLocalJWKSet, errors, jwtVerify } = await import('jose');
    const options = { ...expected, algorithms: asymmetric, clockTolerance, currentDate: new Date(this.#clock.now()) };
    const verifyWith = async (freshFor: number) => {
      const keys = createLocalJWKSet(await this.keys(expected.issuer, freshFor));
      return (await jwtVerify(token, keys, options)).payload;
    };
    try {
      const claims = await verifyWith(freshMs).catch((error) => {
        if (error instanceof errors.JWKSNoMatchingKey) return verifyWith(betweenKeysMs);
        throw error;
      });
      if (isLater(claims.iat, this.#clock.now())) throw new ProviderRefusal('token_expired');
      return claims;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError)
        throw new ProviderRefusal(classifyError(error), { cause: error });
      throw error;
    }
  }

  async #get(address: string): Promise<unknown> {
    const response = await this.#fetch(address, { headers: { accept: 'application/json' } }).catch((error) => {
      throw unanswered(error);
    });
    if (response.status !== 200) throw new ProviderRefusal('provider_unreachable');
    try {
      return await response.json();
    } catch (error) {
      throw new ProviderRefusal('provider_document_invalid', { cause: error });
    }
  }

  /** Reads a document, or returns the cached document. Concurrent callers share a request. */
  #read<Document>(
    kept: Map<string, CachedDocument<Document>>,
    key: string,
    freshFor: number,
    read: () => Promise<Document>,
  ): Promise<Document> {
    const now = this.#clock.monotonic();
    const known = kept.get(key);
    const usedFor = known?.hasFailed ? Math.min(freshFor, failedMs) : freshFor;
    if (known !== undefined && now - known.at < usedFor) return known.document;
    const document = read();
    const fetched = { at: now, document, hasFailed: false };
    kept.delete(key);
    kept.set(key, fetched);
    if (kept.size > most) kept.delete(kept.keys().next().value!);
    document.catch(() => {
      fetched.hasFailed = true;
    });
    return document;
  }
}

function classifyError(error: Error & { readonly code?: string; readonly claim?: string }) {
  switch (error.code) {
    case 'ERR_JWT_EXPIRED':
      return 'token_expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return claimRefusals.get(error.claim ?? '') ?? 'id_token_invalid';
    case 'ERR_JWT_INVALID':
    case 'ERR_JWS_INVALID':
      return 'id_token_invalid';
    default:
      return 'signature_invalid';
  }
}

const claimRefusals: ReadonlyMap<string, ProviderRefusalCode> = new Map([
  ['iss', 'issuer_mismatch'],
  ['aud', 'audience_mismatch'],
  ['azp', 'audience_mismatch'],
  ['nbf', 'token_expired'],
  ['iat', 'token_expired'],
  ['nonce', 'nonce_mismatch'],
] as const);

/** Checks the documents that a provider publishes now. Nothing is read from the cache. */
export async function checkProvider(
  issuers: Issuers,
  { issuer }: Pick<IdentityProvider, 'issuer'>,
): Promise<ProviderCheck> {
  issuers.forget(issuer);
  let metadata: IssuerMetadata | undefined;
  try {
    metadata = await issuers.metadata(issuer);
    const { keys } = await issuers.keys(issuer);
    const usable = keys.filter(({ kty, use = 'sig' }) => ['RSA', 'EC', 'OKP'].includes(kty ?? '') && use === 'sig');
    const announced = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    const isSigned = usable.length > 0 && announced.some((algorithm) => asymmetric.includes(algorithm));
    return found(metadata, usable.length, isSigned ? null : 'signature_invalid');
  } catch (error) {
    if (error instanceof ProviderRefusal) return found(metadata, 0, error.code);
    throw error;
  }
}

function found(metadata: IssuerMetadata | undefined, keys: number, reason: ProviderRefusalCode | null): ProviderCheck {
  return {
    reason,
    detail: reason === null ? null : providerRefusals[reason],
    endpoints: {
      authorization: metadata?.authorization_endpoint ?? null,
      token: metadata?.token_endpoint ?? null,
      userinfo: metadata?.userinfo_endpoint ?? null,
      endSession: metadata?.end_session_endpoint ?? null,
    },
    keys,
    backchannelLogout: metadata?.backchannel_logout_supported ?? false,
  };
}
