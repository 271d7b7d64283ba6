import Type, { type Static } from 'typebox';
import { boolean, type DeepReadonly, list } from '../contract/shapes/fields.ts';
import { type Endpoint, jsonResponse, PublicHeaders, TaggedHeaders } from '../http/endpoint.ts';
import { publicJson } from '../http/entity-tag.ts';
import type { Handler, Route } from '../http/types.ts';
import { type PublicJwk, publishedAheadSeconds, type SigningKeys } from './oauth/key-ring.ts';
import type { Services } from './oauth/services.ts';
import { grantTypes } from './oauth/token-endpoint.ts';

type DiscoverySettings = Pick<Services, 'issuer' | 'serviceScope' | 'keys'>;

const url = Type.String({ format: 'uri' });
const texts = list(Type.String());

/** Fields of the metadata (OpenID Connect Discovery §3, RFC 8414 §2). */
const Metadata = Type.Object(
  {
    issuer: url,
    authorization_endpoint: url,
    token_endpoint: url,
    device_authorization_endpoint: url,
    userinfo_endpoint: url,
    jwks_uri: url,
    revocation_endpoint: url,
    introspection_endpoint: url,
    end_session_endpoint: url,
    scopes_supported: texts,
    response_types_supported: texts,
    response_modes_supported: texts,
    grant_types_supported: texts,
    code_challenge_methods_supported: texts,
    token_endpoint_auth_methods_supported: texts,
    token_endpoint_auth_signing_alg_values_supported: texts,
    revocation_endpoint_auth_methods_supported: texts,
    revocation_endpoint_auth_signing_alg_values_supported: texts,
    introspection_endpoint_auth_methods_supported: texts,
    introspection_endpoint_auth_signing_alg_values_supported: texts,
    subject_types_supported: texts,
    id_token_signing_alg_values_supported: texts,
    claims_supported: texts,
    prompt_values_supported: texts,
    authorization_response_iss_parameter_supported: boolean('RFC 9207.'),
    claims_parameter_supported: boolean('OpenID Connect Core §5.5.'),
    request_parameter_supported: boolean('OpenID Connect Core §6.1.'),
    request_uri_parameter_supported: boolean('OpenID Connect Core §6.2.'),
  },
  { component: 'Metadata' },
);
type Metadata = DeepReadonly<Static<typeof Metadata>>;

const publicHeaders = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
  'access-control-allow-origin': '*',
};

const oauthPath = '/.well-known/oauth-authorization-server';

/**
 * The metadata from which clients configure themselves: one document for OpenID Connect Discovery (§4) and RFC 8414
 * (§3). Pages of any origin can read it.
 */
export const discoveryEndpoints: readonly Endpoint<DiscoverySettings>[] = [
  discovery('/.well-known/openid-configuration', 'getOpenidConfiguration'),
  discovery(oauthPath, 'getAuthorizationServerMetadata'),
];

/** The metadata route of an issuer URL with a path. RFC 8414 §3.1 puts the well-known path in front of that path. */
export function discoveryOfPath(settings: DiscoverySettings): readonly Route[] {
  const path = new URL(settings.issuer).pathname.replace(/\/$/, '');
  if (path === '') return [];
  return [{ method: 'GET', path: `${oauthPath}${path}`, handle: show(settings) }];
}

function discovery(path: string, operationId: string): Endpoint<DiscoverySettings> {
  return {
    method: 'GET',
    path,
    access: { credential: 'None', who: 'Everybody' },
    operation: {
      operationId,
      summary: 'Read the endpoints and features of the auth host',
      security: [],
      responses: { 200: jsonResponse(Metadata, 'The metadata.', PublicHeaders) },
    },
    bind: show,
  };
}

function show(settings: DiscoverySettings): Handler {
  return () => ({ status: 200, headers: publicHeaders, body: JSON.stringify(metadata(settings)) });
}

/** The metadata of this service. It lists supported features only. */
function metadata({ issuer, serviceScope, keys }: DiscoverySettings): Metadata {
  const secrets = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
  const signed = ['ES256', 'RS256', 'EdDSA'];
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
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: clients,
    token_endpoint_auth_signing_alg_values_supported: signed,
    revocation_endpoint_auth_methods_supported: clients,
    revocation_endpoint_auth_signing_alg_values_supported: signed,
    introspection_endpoint_auth_methods_supported: secrets,
    introspection_endpoint_auth_signing_alg_values_supported: signed,
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

/** Cache settings of the JWKS, with which cached copies expire before a new key starts to sign. */
const caching = { contentType: 'application/jwk-set+json', maxAgeSeconds: publishedAheadSeconds };

const Key = Type.Unsafe<PublicJwk>({
  type: 'object',
  required: ['kid', 'kty', 'alg', 'use'],
  properties: {
    kid: { type: 'string', description: 'Id of the key.' },
    kty: { type: 'string' },
    alg: { type: 'string' },
    use: { const: 'sig' },
    ...Object.fromEntries(['crv', 'x', 'y', 'n', 'e'].map((name) => [name, { type: 'string' }])),
  },
});
const KeySet = Type.Object({ keys: list(Key) }, { component: 'KeySet' });

/** `GET /.well-known/jwks.json`: the public keys that verify access tokens and ID tokens (RFC 7517 §5). */
export const jwksEndpoint: Endpoint<Pick<Services, 'keys'>> = {
  method: 'GET',
  path: '/.well-known/jwks.json',
  access: { credential: 'None', who: 'Everybody' },
  operation: {
    operationId: 'getKeys',
    summary: 'Read the public keys that tokens are verified with',
    security: [],
    responses: {
      200: { description: 'The keys.', headers: TaggedHeaders, content: { [caching.contentType]: { schema: KeySet } } },
      304: { description: 'The cached copy is current.', headers: TaggedHeaders },
    },
  },
  bind: ({ keys }) => showKeys(keys),
};

function showKeys(keys: SigningKeys): Handler {
  const respondWith = (published: SigningKeys['published']) => publicJson({ keys: published }, caching);
  let { published } = keys;
  let respond = respondWith(published);
  return (request) => {
    if (published !== keys.published) {
      published = keys.published;
      respond = respondWith(published);
    }
    return respond(request);
  };
}
