import type { Route } from '../http/types.ts';
import { deviceCodeGrant } from './grant-device-code.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface DiscoverySettings {
  /** The public URL of the auth host. */
  readonly issuer: string;
  readonly serviceScope: string;
  readonly keys: SigningKeys;
}

/**
 * What clients configure themselves by: the same document as OpenID Connect Discovery (§4) and as RFC 8414 (§3) want it.
 * An issuer with a path has the latter in front of that path too (RFC 8414 §3.1).
 */
export function discoveryRoutes(settings: DiscoverySettings): readonly Route[] {
  const { pathname } = new URL(settings.issuer);
  const oauth = '/.well-known/oauth-authorization-server';
  const paths = new Set([
    '/.well-known/openid-configuration',
    oauth,
    `${oauth}${pathname.replace(/\/$/, '')}`,
  ]);
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
  };
  return Array.from(paths, (path) => ({
    method: 'GET',
    path,
    handle: () => ({ status: 200, headers, body: JSON.stringify(metadata(settings)) }),
  }));
}

/** What this service can do, and no more. */
function metadata({ issuer, serviceScope, keys }: DiscoverySettings): object {
  const secrets = ['client_secret_basic', 'client_secret_post'];
  const clients = [...secrets, 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/connect/authorize`,
    token_endpoint: `${issuer}/connect/token`,
    device_authorization_endpoint: `${issuer}/connect/deviceauthorization`,
    userinfo_endpoint: `${issuer}/connect/userinfo`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    revocation_endpoint: `${issuer}/connect/revocation`,
    introspection_endpoint: `${issuer}/connect/introspect`,
    end_session_endpoint: `${issuer}/connect/endsession`,
    scopes_supported: ['openid', 'email', serviceScope],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'client_credentials', 'refresh_token', deviceCodeGrant],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: clients,
    revocation_endpoint_auth_methods_supported: clients,
    introspection_endpoint_auth_methods_supported: secrets,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [keys.current.alg],
    claims_supported: [
      ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'sid'],
      ...['email', 'email_verified', 'name', 'role', 'team', 'primaryTeam'],
    ],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
