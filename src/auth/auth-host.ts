import type { ApiError } from '../contract/errors.ts';
import type { Reply, Route } from '../http/types.ts';
import { authorizeEndpoints } from './authorize-routes.ts';
import { deviceAuthorizationEndpoint } from './device-authorization.ts';
import { devicePageEndpoints } from './device-page.ts';
import { discoveryEndpoints } from './discovery.ts';
import { endSessionEndpoints } from './end-session.ts';
import { introspectionEndpoint } from './introspection.ts';
import { jwksEndpoint } from './jwks.ts';
import { OAuthError, oauthErrorReply } from './oauth-error.ts';
import { refusalPage } from './pages/failure-page.ts';
import { revocationEndpoint } from './revocation.ts';
import { tokenEndpoint } from './token-endpoint.ts';
import { userinfoEndpoints } from './userinfo.ts';

/** Endpoints that pages of a public client may call, too. */
export const pageTokens = {
  tag: 'Tokens',
  description: 'Tokens for API keys and for users, and their revocation.',
  endpoints: [tokenEndpoint, revocationEndpoint],
};

const clientTokens = {
  tag: 'Servers and devices',
  description: 'Introspection, and the sign-in of devices.',
  endpoints: [introspectionEndpoint, deviceAuthorizationEndpoint],
};

const signIn = {
  tag: 'Signing in',
  description: 'Pages where users sign in and out, and the claims of users.',
  endpoints: [...authorizeEndpoints, ...devicePageEndpoints, ...endSessionEndpoints, ...userinfoEndpoints],
};

const pagePaths: ReadonlySet<string> = new Set(
  [...authorizeEndpoints, ...devicePageEndpoints, ...endSessionEndpoints].map(({ path }) => path),
);

/** The answer to a request that needs accounts while they are unavailable: a page for people, JSON for clients. */
export function cannotAnswer(refusal: ApiError, { path }: Pick<Route, 'path'>): Reply {
  if (pagePaths.has(path)) return refusalPage(refusal);
  const { message, status, retryAfter } = refusal;
  return oauthErrorReply(new OAuthError('temporarily_unavailable', message, { status, retryAfter }));
}

/** The metadata that clients configure themselves from. It does not depend on accounts. */
export const metadata = {
  tag: 'Metadata',
  description: 'The metadata that clients configure themselves from.',
  endpoints: [...discoveryEndpoints, jwksEndpoint],
};

/** Sign-in, and the endpoints for servers and devices. */
export const accountEndpoints = [signIn, clientTokens];

/** The endpoints that pages of other origins may not call, unless an answer allows it. */
export const authHost = [...accountEndpoints, metadata];
