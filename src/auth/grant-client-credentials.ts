import type { ApiKey } from '../store/records.ts';
import { issueAccessToken, type TokenSettings } from './access-token.ts';
import type { Form } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import { type TokenAnswer, tokenAnswer } from './token-answer.ts';

export interface ClientCredentialsDeps extends TokenSettings {
  /** The scope that stands for this service, asked for beside `openid`. */
  readonly serviceScope: string;
}

/** RFC 6749 §4.4: a client acts for itself, with the role and the team of its API key. */
export async function grantClientCredentials(
  deps: ClientCredentialsDeps,
  { clientId, role, teamId }: ApiKey,
  form: Form,
): Promise<TokenAnswer> {
  const scope = checkScope(form.get('scope'), deps.serviceScope);
  const accessToken = await issueAccessToken(deps, {
    sub: clientId,
    client_id: clientId,
    scope,
    role,
    team: [teamId],
    primaryTeam: teamId,
  });
  return tokenAnswer(accessToken, scope);
}

/** Both scopes are required and there is no other. @throws {OAuthError} `invalid_scope` */
function checkScope(asked: string | undefined, serviceScope: string): string {
  const scopes = new Set((asked ?? '').split(' ').filter((scope) => scope !== ''));
  if (scopes.size === 2 && scopes.has('openid') && scopes.has(serviceScope)) return `openid ${serviceScope}`;
  throw new OAuthError('invalid_scope', `scope must be: openid ${serviceScope}`);
}
