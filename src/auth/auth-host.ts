import { authorizeEndpoints } from './authorize-routes.ts';
import { deviceAuthorizationEndpoint } from './device-authorization.ts';
import { devicePageEndpoints } from './device-page.ts';
import { discoveryEndpoints } from './discovery.ts';
import { endSessionEndpoints } from './end-session.ts';
import { introspectionEndpoint } from './introspection.ts';
import { jwksEndpoint } from './jwks.ts';
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

const metadata = {
  tag: 'Metadata',
  description: 'What clients configure themselves by.',
  endpoints: [...discoveryEndpoints, jwksEndpoint],
};

/** The endpoints of the auth host that pages of other origins may not call, unless their own answers say so. */
export const authHost = [signIn, clientTokens, metadata];
