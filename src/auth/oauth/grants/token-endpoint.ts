/*
 * src/auth/oauth/grants: the endpoints that issue, check and revoke tokens. token-endpoint.ts selects the grant, and grants.ts implements
 * the grants. device-authorization.ts starts the sign-in of programs without a browser (RFC 8628).
 */
import { type Endpoint, jsonAnswer } from '../../../http/endpoint.ts';
import { type ClientEndpointDeps, type ClientForm, clientEndpoint } from '../clients/client-endpoint.ts';
import { apiKeyRefused } from '../clients/clients.ts';
import type { Form } from '../clients/form.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import type { DeviceCodes } from '../codes/device-codes.ts';
import type { SessionDeps } from '../sessions/sessions.ts';
import type { TokenTotals } from '../tokens/token-totals.ts';
import {
  authorizationCodeGrant,
  clientCredentialsGrant,
  deviceCodeGrant,
  deviceCodeGrantType,
  invalidCode,
  pollRefusals,
  refreshTokenGrant,
  type TokenExchangeDeps,
  tokenExchangeGrant,
  tokenExchangeGrantType,
} from './grants.ts';
import { TokenAnswer } from './token-answer.ts';

export type TokenEndpointSettings = ClientEndpointDeps &
  TokenExchangeDeps &
  SessionDeps & { readonly devices: DeviceCodes; readonly totals: TokenTotals };

const grants = new Map<string, ClientForm<TokenAnswer, TokenEndpointSettings>>([
  ['authorization_code', counted('authorization_code', authorizationCodeGrant)],
  ['client_credentials', counted('client_credentials', clientCredentialsGrant)],
  ['refresh_token', counted('refresh_token', refreshTokenGrant)],
  [tokenExchangeGrantType, counted('token_exchange', tokenExchangeGrant)],
  [deviceCodeGrantType, counted('device_code', deviceCodeGrant)],
]);

export const grantTypes: readonly string[] = [...grants.keys()];

const unknownGrant = `grant_type must be client_credentials, authorization_code, refresh_token, ${deviceCodeGrantType} or ${tokenExchangeGrantType}`;

/** `POST /connect/token` (RFC 6749 §3.2). */
export const tokenEndpoint: Endpoint<TokenEndpointSettings> = clientEndpoint('/connect/token', {
  operationId: 'issueTokens',
  summary: 'Get tokens',
  description:
    'API keys use `client_credentials`, or a token exchange if they trust an issuer. Clients that people sign in to use the other grants. `grant_type` decides which fields are read.',
  who: 'API keys: `client_credentials` and token exchange; sign-in clients: the other grants',
  forms: [...grants.values()],
  choose,
  answer: jsonAnswer(TokenAnswer, 'The tokens.'),
  refuses: {
    invalid_grant: invalidCode,
    unauthorized_client: apiKeyRefused,
    unsupported_grant_type: unknownGrant,
    invalid_scope: 'scope must be: openid flagmeter',
    ...pollRefusals,
  },
});

function choose(form: Form): ClientForm<TokenAnswer, TokenEndpointSettings> {
  const type = form.get('grant_type');
  if (type === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
  const grant = grants.get(type);
  if (grant !== undefined) return grant;
  throw new OAuthError('unsupported_grant_type', unknownGrant);
}

function counted(
  type: string,
  grant: ClientForm<TokenAnswer, TokenEndpointSettings>,
): ClientForm<TokenAnswer, TokenEndpointSettings> {
  return {
    ...grant,
    async answer(client, form, request, deps) {
      const answer = await grant.answer(client, form, request, deps);
      deps.totals.countIssued(type);
      return answer;
    },
  };
}
