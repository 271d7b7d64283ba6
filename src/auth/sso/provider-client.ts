import type { Configuration, IDToken } from 'openid-client';
import type { ProviderRefusalCode } from '../../contract/provider-refusals.ts';
import { OutboundError, type OutboundFetch } from '../../http/outbound/fetch.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import { asymmetric, clockTolerance, isLater } from '../oauth/tokens.ts';
import type { Issuers } from './issuers.ts';
import { ProviderRefusal, unanswered } from './provider-refusal.ts';

interface ProviderClientDeps {
  readonly issuers: Issuers;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
  readonly allowPrivate: boolean;
}

/** Values of a sign-in request, by which the response to it is recognised. */
interface Binding {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The PKCE verifier. */
  readonly verifier: string;
  /** Maximum time since the user signed in at the provider, seconds; `null` for no limit. */
  readonly maxAge: number | null;
}

export interface Hints {
  readonly prompt: string | null;
  readonly loginHint: string | null;
}

export interface ProviderResponse {
  readonly idToken: string;
  readonly claims: IDToken;
  /**
   * Reads the UserInfo endpoint; `undefined` if the provider does not have one. @throws {ProviderRefusal}
   * `claims_invalid`
   */
  readonly userInfo: (() => Promise<Claims>) | undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

export class ProviderClient {
  readonly #deps: ProviderClientDeps;

  constructor(deps: ProviderClientDeps) {
    this.#deps = deps;
  }

  /** The address at which a user signs in. @throws {ProviderRefusal} as `Issuers.metadata` */
  async authorizationUrl(provider: IdentityProvider, binding: Binding, hints: Hints): Promise<URL> {
    const { redirectUri, state, nonce, verifier, maxAge } = binding;
    const [oidc, config] = await this.#open(provider);
    return oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: provider.scopes.join(' '),
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(maxAge !== null && { max_age: String(maxAge) }),
      ...(hints.prompt !== null && { prompt: hints.prompt }),
      ...(hints.loginHint !== null && { login_hint: hints.loginHint }),
    });
  }

  /**
   * Exchanges the code in a provider's response for the verified claims of the user.
   * @param query the query of the redirect
   * @throws {ProviderRefusal}
   */
  async exchange(provider: IdentityProvider, binding: Binding, query: string): Promise<ProviderResponse> {
    const { redirectUri, state, nonce, verifier, maxAge } = binding;
    const [oidc, config] = await this.#open(provider);
    checkIssuer(new URLSearchParams(query), config.serverMetadata());
    try {
      const response = await oidc.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const { id_token: idToken = '', access_token: accessToken } = response;
      const claims = response.claims()!;
      // Verifies the signature, because the library has checked only the claims.
      await this.#deps.issuers.verify(idToken, { issuer: provider.issuer, audience: provider.clientId });
      checkAuthTime(claims, maxAge, this.#deps.clock.now());
      const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
      const userInfo = async () =>
        (await oidc.fetchUserInfo(config, accessToken, claims.sub).catch((error) => {
          throw outboundIn(error) ?? new ProviderRefusal('claims_invalid', { cause: error });
        })) as Claims;
      return { idToken, claims, userInfo: hasUserInfo ? userInfo : undefined };
    } catch (error) {
      throw error instanceof ProviderRefusal ? error : createRefusal(error);
    }
  }

  /** The address at which a user signs out; `undefined` if the provider does not have one. @throws {ProviderRefusal} */
  async endSessionUrl(
    provider: IdentityProvider,
    parameters: Readonly<Record<string, string>>,
  ): Promise<URL | undefined> {
    const [oidc, config] = await this.#open(provider);
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
    return oidc.buildEndSessionUrl(config, { ...parameters });
  }

  async #open(provider: IdentityProvider): Promise<readonly [typeof import('openid-client'), Configuration]> {
    const { issuers, fetch, clock, allowPrivate } = this.#deps;
    const { issuer, clientId, clientSecret } = provider;
    const metadata = await issuers.metadata(issuer);
    const oidc = await import('openid-client'); // The library is loaded on first use, because most services do not need it.
    const announced = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    const client = {
      [oidc.clockSkew]: Math.round((clock.now() - systemClock.now()) / 1000),
      [oidc.clockTolerance]: clockTolerance,
    };
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authentication =
      clientSecret === null
        ? oidc.None()
        : methods.includes('client_secret_basic')
          ? oidc.ClientSecretBasic(clientSecret)
          : oidc.ClientSecretPost(clientSecret);
    const supported = announced.filter((algorithm) => asymmetric.includes(algorithm));
    const server = { ...metadata, id_token_signing_alg_values_supported: supported };
    const config = new oidc.Configuration(server, clientId, client, authentication);
    config[oidc.customFetch] = (url, options) => fetch(url, options as Parameters<OutboundFetch>[1]);
    if (allowPrivate) oidc.allowInsecureRequests(config);
    return [oidc, config];
  }
}

/** Checks the issuer of the response (RFC 9207 §2.4). */
function checkIssuer(
  query: URLSearchParams,
  metadata: { readonly issuer: string; readonly authorization_response_iss_parameter_supported?: boolean },
): void {
  const isAnnounced = metadata.authorization_response_iss_parameter_supported === true;
  const said = query.getAll('iss');
  if (said.length === 0 ? isAnnounced : said.some((issuer) => issuer !== metadata.issuer))
    throw new ProviderRefusal('mixed_up');
}

/**
 * Checks the time when the user signed in at the provider (OpenID Connect Core §3.1.3.7, rule 13).
 * @param maxAge seconds; `null` for no limit
 * @param now Unix ms
 */
function checkAuthTime({ auth_time: authTime }: IDToken, maxAge: number | null, now: number): void {
  if (isLater(authTime, now)) throw new ProviderRefusal('token_expired');
  if (maxAge === null) return;
  if (authTime === undefined) throw new ProviderRefusal('authentication_time_missing');
  if (authTime + maxAge + clockTolerance < now / 1000) throw new ProviderRefusal('authenticated_too_long_ago');
}

/** Converts an error of openid-client. The text of the error can come from the provider, so it is not passed on. */
function createRefusal(error: unknown): ProviderRefusal {
  return outboundIn(error) ?? new ProviderRefusal(classifyError(error), { cause: error });
}

/** Returns the refusal if an error of openid-client was caused by a failed request. */
function outboundIn(error: unknown): ProviderRefusal | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause)
    if (inner instanceof OutboundError) return unanswered(inner);
  return undefined;
}

function classifyError(error: unknown): ProviderRefusalCode {
  const { code, cause } = error as { readonly code?: string; readonly cause?: unknown };
  const { claim } = (cause instanceof Error ? cause.cause : cause) as { readonly claim?: string } & object;
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      return 'denied_by_provider';
    case 'OAUTH_RESPONSE_BODY_ERROR':
    case 'OAUTH_WWW_AUTHENTICATE_CHALLENGE':
      return 'code_refused';
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return 'token_expired';
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return claimRefusals.get(claim ?? '') ?? 'id_token_invalid';
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_PARSE_ERROR':
      return 'provider_document_invalid';
    default:
      return 'id_token_invalid';
  }
}

const claimRefusals: ReadonlyMap<string, ProviderRefusalCode> = new Map([
  ['iss', 'issuer_mismatch'],
  ['aud', 'audience_mismatch'],
  ['azp', 'audience_mismatch'],
  ['nonce', 'nonce_mismatch'],
] as const);
