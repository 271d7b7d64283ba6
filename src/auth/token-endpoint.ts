import type { Route } from '../http/types.ts';
import type { ApiKey } from '../store/records.ts';
import type { TokenSettings } from './access-token.ts';
import { type ClientEndpointDeps, type ClientRequest, clientEndpoint } from './client-endpoint.ts';
import { type AuthenticatedClient, signInClientOf } from './clients.ts';
import type { DeviceCodes } from './device-codes.ts';
import { grantAuthorizationCode } from './grant-authorization-code.ts';
import { grantClientCredentials } from './grant-client-credentials.ts';
import { deviceCodeGrant, grantDeviceCode } from './grant-device-code.ts';
import { grantRefreshToken } from './grant-refresh-token.ts';
import { OAuthError } from './oauth-error.ts';
import type { SessionDeps } from './sessions.ts';
import type { TokenAnswer } from './token-answer.ts';

export interface TokenEndpointSettings
  extends TokenSettings,
    SessionDeps,
    Omit<ClientEndpointDeps, 'directory'> {
  /** The scope that stands for this service. */
  readonly serviceScope: string;
  readonly devices: DeviceCodes;
}

/** `POST /connect/token` (RFC 6749 §3.2). */
export function tokenRoutes(settings: TokenEndpointSettings): readonly Route[] {
  return [clientEndpoint(settings, '/connect/token', (request) => grant(settings, request))];
}

function grant(
  settings: TokenEndpointSettings,
  { form, request, authenticate }: ClientRequest,
): Promise<TokenAnswer> {
  switch (form.get('grant_type')) {
    case 'client_credentials':
      return grantClientCredentials(settings, apiKeyOf(authenticate()), form);
    case 'authorization_code':
      return grantAuthorizationCode(settings, signInClientOf(authenticate()), form, request);
    case 'refresh_token':
      return grantRefreshToken(settings, signInClientOf(authenticate()), form, request);
    case deviceCodeGrant:
      return grantDeviceCode(settings, signInClientOf(authenticate()), form);
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is missing');
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        `grant_type must be client_credentials, authorization_code, refresh_token or ${deviceCodeGrant}`,
      );
  }
}

/** @throws {OAuthError} `unauthorized_client` */
function apiKeyOf(client: AuthenticatedClient): ApiKey {
  if (client.kind === 'api-key') return client.apiKey;
  throw new OAuthError('unauthorized_client', 'A client that people sign in to cannot act for itself');
}
