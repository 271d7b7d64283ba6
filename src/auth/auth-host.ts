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

/** What clients do with tokens from the pages of a public client, too. */
export const pageTokens = {
  tag: 'Tokens',
  description: 'Tokens for API keys and for users, and how clients give them back.',
  endpoints: [tokenEndpoint, revocationEndpoint],
};

const clientTokens = {
  tag: 'Servers and devices',
  description: 'What servers and devices ask for.',
  endpoints: [introspectionEndpoint, deviceAuthorizationEndpoint],
};

const signIn = {
  tag: 'Signing in',
  description: 'Pages where users sign in and out, and who they are.',
  endpoints: [...authorizeEndpoints, ...devicePageEndpoints, ...endSessionEndpoints, ...userinfoEndpoints],
};

const pagePaths: ReadonlySet<string> = new Set(
  [...authorizeEndpoints, ...devicePageEndpoints, ...endSessionEndpoints].map(({ path }) => path),
);

/** The answer to a request that depends on accounts, when these cannot be known: a page for people, JSON for clients. */
export function cannotAnswer(refusal: ApiError, { path }: Pick<Route, 'path'>): Reply {
  if (pagePaths.has(path)) return refusalPage(refusal);
  const { message, status, retryAfter } = refusal;
  return oauthErrorReply(new OAuthError('temporarily_unavailable', message, { status, retryAfter }));
}

/** What clients configure themselves by: it does not depend on accounts. */
export const metadata = {
  tag: 'Metadata',
  description: 'What clients configure themselves by.',
  endpoints: [...discoveryEndpoints, jwksEndpoint],
};

/** Signing in, and what servers and devices ask for. */
export const accountEndpoints = [signIn, clientTokens];

/** The endpoints of the auth host that pages of other origins may not call, unless their own answers say so. */
export const authHost = [...accountEndpoints, metadata];
