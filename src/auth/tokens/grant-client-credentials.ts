import Type from 'typebox';
import { text } from '../../contract/shapes/fields.ts';
import type { ApiKey } from '../../storage/lmdb/records.ts';
import { type ClientForm, clientForm } from '../clients/client-endpoint.ts';
import type { AuthenticatedClient } from '../clients/clients.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { issueAccessToken, type Subject, type TokenSettings } from './access-token.ts';
import { type TokenAnswer, tokenAnswer } from './token-answer.ts';

export interface ClientCredentialsDeps extends TokenSettings {
  /** The scope of this service, required in addition to `openid`. */
  readonly serviceScope: string;
}

/** RFC 6749 §4.4: a client acts for itself, with the role and the team of its API key. */
export const clientCredentialsGrant: ClientForm<TokenAnswer, ClientCredentialsDeps> = clientForm({
  by: apiKeyOf,
  fields: {
    grant_type: Type.Literal('client_credentials'),
    // Optional here, so that a missing scope yields `invalid_scope`.
    scope: Type.Optional(text('`openid` and the scope of this service. Both are required.')),
  },
  async handle({ client, fields }, deps) {
    const scope = checkScope(fields.scope, deps.serviceScope);
    return tokenAnswer(await issueAccessToken(deps, subjectOf(client, scope)), scope);
  },
});

/** The claims of a token with which an API key acts for itself. */
export function subjectOf({ clientId, role, teamId }: ApiKey, scope: string): Subject {
  const team = { team: [teamId], primaryTeam: teamId };
  return { sub: clientId, client_id: clientId, scope, role, ...team };
}

/** @throws {OAuthError} `unauthorized_client` */
function apiKeyOf(client: AuthenticatedClient): ApiKey {
  if (client.kind === 'api-key') return client.apiKey;
  throw new OAuthError('unauthorized_client', 'A client that people sign in to cannot act for itself');
}

/**
 * Requires exactly the two supported scopes.
 * @throws {OAuthError} `invalid_scope`
 */
export function checkScope(asked: string | undefined, serviceScope: string): string {
  if (asked === `openid ${serviceScope}`) return asked;
  const scopes = new Set((asked ?? '').split(' ').filter((scope) => scope !== ''));
  if (scopes.size === 2 && scopes.has('openid') && scopes.has(serviceScope)) return `openid ${serviceScope}`;
  throw new OAuthError('invalid_scope', `scope must be: openid ${serviceScope}`);
}
