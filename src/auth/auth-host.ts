import type { Group } from '../http/endpoint.ts';
import type { AuthorizeSettings } from './authorize.ts';
import { authorizeEndpoints } from './authorize-routes.ts';
import { type DeviceAuthorizationDeps, deviceAuthorizationEndpoint } from './device-authorization.ts';
import { type DevicePageDeps, devicePageEndpoints } from './device-page.ts';
import { type DiscoverySettings, discoveryEndpoints } from './discovery.ts';
import { type EndSessionDeps, endSessionEndpoints } from './end-session.ts';
import { type IntrospectionDeps, introspectionEndpoint } from './introspection.ts';
import { jwksEndpoint } from './jwks.ts';
import { type RevocationDeps, revocationEndpoint } from './revocation.ts';
import { type TokenEndpointSettings, tokenEndpoint } from './token-endpoint.ts';
import { type UserinfoDeps, userinfoEndpoints } from './userinfo.ts';

/** What clients do with tokens from the pages of a public client, too. */
export const pageTokens: Group<TokenEndpointSettings & RevocationDeps> = {
  tag: 'Tokens',
  description: 'Tokens for API keys and for users, and how clients give them back.',
  endpoints: [tokenEndpoint, revocationEndpoint],
};

const clientTokens: Group<IntrospectionDeps & DeviceAuthorizationDeps> = {
  tag: 'Servers and devices',
  description: 'What servers and devices ask for.',
  endpoints: [introspectionEndpoint, deviceAuthorizationEndpoint],
};

const signIn: Group<AuthorizeSettings & DevicePageDeps & EndSessionDeps & UserinfoDeps> = {
  tag: 'Signing in',
  description: 'Pages where users sign in and out, and who they are.',
  endpoints: [...authorizeEndpoints, ...devicePageEndpoints, ...endSessionEndpoints, ...userinfoEndpoints],
};

const metadata: Group<DiscoverySettings> = {
  tag: 'Metadata',
  description: 'What clients configure themselves by.',
  endpoints: [...discoveryEndpoints, jwksEndpoint],
};

/** What the endpoints of the auth host work on. */
export type AuthHostDeps = AuthorizeSettings &
  DevicePageDeps &
  EndSessionDeps &
  UserinfoDeps &
  IntrospectionDeps &
  DeviceAuthorizationDeps &
  DiscoverySettings;

/** The endpoints of the auth host that pages of other origins may not call, unless their own answers say so. */
export const authHost: readonly Group<AuthHostDeps>[] = [signIn, clientTokens, metadata];
