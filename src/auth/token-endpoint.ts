import { verifyClient } from '../accounts/api-keys.ts';
import type { Directory } from '../accounts/directory.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { accessTokenLifetime, issueAccessToken, type TokenSettings } from './access-token.ts';
import { invalidClient, readClient } from './client-credentials.ts';
import { type Form, readForm } from './form.ts';
import { OAuthError, oauthErrorReply, uncached } from './oauth-error.ts';

export interface TokenEndpointSettings extends TokenSettings {
  readonly directory: Pick<Directory, 'apiKeys'>;
  /** The scope that stands for this service, asked for beside `openid`. */
  readonly serviceScope: string;
}

/** `POST /connect/token` (RFC 6749 §3.2). */
export function tokenRoutes(settings: TokenEndpointSettings): readonly Route[] {
  return [{ method: 'POST', path: '/connect/token', handle: (request) => answer(settings, request) }];
}

async function answer(settings: TokenEndpointSettings, request: Request): Promise<Reply> {
  try {
    const form = await readForm(request);
    const body = await grant(settings, request, form);
    return { status: 200, headers: uncached, body: JSON.stringify(body) };
  } catch (error) {
    if (error instanceof OAuthError) return oauthErrorReply(error);
    throw error;
  }
}

function grant(settings: TokenEndpointSettings, request: Request, form: Form): Promise<object> {
  switch (form.get('grant_type')) {
    case 'client_credentials':
      return clientCredentials(settings, request, form);
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is missing');
    default:
      throw new OAuthError('unsupported_grant_type', 'grant_type must be client_credentials');
  }
}

/** RFC 6749 §4.4: the client acts for itself, with the role and the team of its API key. */
async function clientCredentials(
  settings: TokenEndpointSettings,
  request: Request,
  form: Form,
): Promise<object> {
  const client = readClient(request.header('authorization'), form);
  const apiKey = verifyClient(settings.directory, client.id, client.secret);
  if (!apiKey) throw invalidClient(client.byHeader);
  const scope = checkScope(form.get('scope'), settings.serviceScope);
  const accessToken = await issueAccessToken(settings, {
    sub: apiKey.clientId,
    client_id: apiKey.clientId,
    scope,
    role: apiKey.role,
    team: [apiKey.teamId],
    primaryTeam: apiKey.teamId,
  });
  return { access_token: accessToken, expires_in: accessTokenLifetime, token_type: 'Bearer', scope };
}

/** Both scopes are required and there is no other. @throws {OAuthError} `invalid_scope` */
function checkScope(asked: string | undefined, serviceScope: string): string {
  const scopes = new Set((asked ?? '').split(' ').filter((scope) => scope !== ''));
  if (scopes.size === 2 && scopes.has('openid') && scopes.has(serviceScope)) return `openid ${serviceScope}`;
  throw new OAuthError('invalid_scope', `scope must be: openid ${serviceScope}`);
}
