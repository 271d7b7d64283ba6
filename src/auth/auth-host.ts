import type { Refusal } from '../contract/errors.ts';
import type { Group, Json } from '../http/endpoint.ts';
import { describeHost } from '../http/openapi/describe.ts';
import { documentEndpoint } from '../http/openapi/document-endpoint.ts';
import type { HttpResponse, Route } from '../http/types.ts';
import { authenticatorPageEndpoints, linkPageEndpoints, passkeyPageEndpoints } from './browser/account-pages.ts';
import { authorizeEndpoints } from './browser/authorize.ts';
import { devicePageEndpoints } from './browser/device-page.ts';
import { endSessionEndpoints } from './browser/end-session.ts';
import { invitationPageEndpoints } from './browser/invitation-page.ts';
import { refusalPage } from './browser/pages/failure-page.ts';
import { backChannelLogout, ssoPages } from './browser/sso/endpoints.ts';
import { discoveryEndpoints, jwksEndpoint } from './discovery.ts';
import { deviceAuthorizationEndpoint } from './oauth/device-authorization.ts';
import { introspectionEndpoint } from './oauth/introspection.ts';
import { OAuthError, oauthErrorResponse } from './oauth/oauth-error.ts';
import { revocationEndpoint } from './oauth/revocation.ts';
import type { Services } from './oauth/services.ts';
import { tokenEndpoint } from './oauth/token-endpoint.ts';
import { userinfoEndpoints } from './oauth/userinfo.ts';

/** Endpoints that a public client can also call from a web page of its own origin. */
export const pageTokens = {
  tag: 'Tokens',
  description: 'Endpoints that issue and revoke the tokens of API keys and users.',
  endpoints: [tokenEndpoint, revocationEndpoint],
};

const clientTokens = {
  tag: 'Servers and devices',
  description: 'Introspection of tokens, and the sign-in of devices without a browser.',
  endpoints: [introspectionEndpoint, deviceAuthorizationEndpoint],
};

const signIn = {
  tag: 'Signing in',
  description: 'Pages on which users sign in and out, and the endpoint for the claims of a user.',
  endpoints: [
    ...authorizeEndpoints,
    ...devicePageEndpoints,
    ...passkeyPageEndpoints,
    ...invitationPageEndpoints,
    ...authenticatorPageEndpoints,
    ...linkPageEndpoints,
    ...endSessionEndpoints,
    ...userinfoEndpoints,
  ],
};

const providers = {
  tag: 'Identity providers',
  description: 'Sign-in with identity providers, and back-channel logout.',
  endpoints: [...ssoPages, backChannelLogout],
};

const pagePaths: ReadonlySet<string> = new Set(
  [
    ...authorizeEndpoints,
    ...devicePageEndpoints,
    ...passkeyPageEndpoints,
    ...invitationPageEndpoints,
    ...authenticatorPageEndpoints,
    ...linkPageEndpoints,
    ...endSessionEndpoints,
    ...ssoPages,
  ].map(({ path }) => path),
);

/** Responds while accounts are unavailable. People get a page, and clients get JSON. */
export function respondUnavailable(refusal: Refusal, { path }: Pick<Route, 'path'>): HttpResponse {
  if (pagePaths.has(path)) return refusalPage(refusal);
  const { message, status, retryAfter } = refusal;
  return oauthErrorResponse(new OAuthError('temporarily_unavailable', message, { status, retryAfter }));
}

/** Metadata from which clients configure themselves. The metadata does not depend on accounts. */
export const metadata = {
  tag: 'Metadata',
  description: 'Metadata from which clients configure themselves.',
  endpoints: [...discoveryEndpoints, jwksEndpoint],
};

export const accountEndpoints = [signIn, providers, clientTokens];

/** Endpoints whose responses themselves determine which other origins can read them. */
export const authHost = [...accountEndpoints, metadata];

export const authDescription: Group<Services> = {
  tag: 'Description',
  description: 'The API itself.',
  endpoints: [documentEndpoint('/connect/openapi.json', describeAuthHost)],
};

export function describeAuthHost({ issuer }: Pick<Services, 'issuer'>): Json {
  const host = {
    title: 'flagmeter: auth host',
    summary: 'Signs users in, and issues and revokes tokens',
    description: introduction,
    server: issuer,
    security: [{ client: [] }, {}],
    securitySchemes: {
      client: { type: 'http', scheme: 'basic', description: 'Id and secret of a client, form-encoded.' },
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    },
  };
  return describeHost(host, [pageTokens, ...authHost, authDescription]);
}

const introduction = `OAuth 2.0 (RFC 6749, RFC 9700) and OpenID Connect Core 1.0. Libraries configure themselves from the discovery document.

**Clients.** API keys act for a team, with the grant \`client_credentials\`. Sign-in clients act for users, with the other grants.
A client with a secret sends it in the \`Authorization\` header or in the form; a public client sends only its \`client_id\`.
Every client uses PKCE.

**Refusals** have the form of RFC 6749 §5.2: \`error\` is a stable code, \`error_description\` is for people. Responses 429 and 503 have
\`Retry-After\` in seconds. A form has at most 16 KiB and no repeated parameter.`;
