import type { Directory } from '../accounts/directory.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { OAuthClient, User } from '../store/records.ts';
import type { AccessClaims } from './access-token.ts';
import { bearerToken } from './bearer.ts';
import { findClient, teamsThrough } from './clients.ts';
import { isForm, readForm } from './form.ts';
import { emailClaims } from './id-token.ts';
import { OAuthError, type OAuthErrorCode, oauthErrorReply, uncached } from './oauth-error.ts';
import { type ValidateToken, validOrNot } from './validate-token.ts';

/** What the userinfo endpoint works on. */
export interface UserinfoDeps {
  readonly validate: ValidateToken;
  readonly directory: Pick<Directory, 'users' | 'clients'>;
  readonly serviceScope: string;
}

/** Pages of any origin may ask: it takes a token, which no browser sends by itself. */
const readableByPages = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'www-authenticate',
};

const preflight: Reply = {
  status: 204,
  headers: {
    ...readableByPages,
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '7200',
  },
};

/** Who shows no token is told nothing but how to show one (RFC 6750 §3.1). */
const unasked: Reply = {
  status: 401,
  headers: { 'cache-control': 'no-store', 'www-authenticate': 'Bearer' },
};

/** `GET` and `POST /connect/userinfo`: who the user of an access token is (OpenID Connect Core §5.3). */
export function userinfoRoutes(deps: UserinfoDeps): readonly Route[] {
  const path = '/connect/userinfo';
  const handle = async (request: Request): Promise<Reply> => {
    const reply = await answer(deps, request);
    return { ...reply, headers: { ...reply.headers, ...readableByPages } };
  };
  return [
    { method: 'GET', path, handle },
    { method: 'POST', path, handle },
    { method: 'OPTIONS', path, handle: () => preflight },
  ];
}

async function answer(deps: UserinfoDeps, request: Request): Promise<Reply> {
  try {
    const token = await readToken(request);
    if (token === undefined) return unasked;
    const body = userClaims(deps, await validate(deps, token));
    return { status: 200, headers: uncached, body: JSON.stringify(body) };
  } catch (error) {
    if (error instanceof OAuthError) return oauthErrorReply(error);
    throw error;
  }
}

/**
 * The access token, from the header or from a form (RFC 6750 §2.1, §2.2).
 * @throws {OAuthError} `invalid_request`: both, or no readable form
 */
async function readToken(request: Request): Promise<string | undefined> {
  const inHeader = bearerToken(request);
  const inForm =
    request.method === 'POST' && isForm(request) ? (await readForm(request)).get('access_token') : undefined;
  if (inHeader !== undefined && inForm !== undefined)
    throw refusal('invalid_request', 400, 'Send the token in the header or in the form, not in both');
  return inHeader ?? inForm;
}

async function validate(deps: UserinfoDeps, token: string): Promise<AccessClaims> {
  const claims = await validOrNot(deps.validate, token);
  if (claims !== undefined) return claims;
  throw refusal('invalid_token', 401, 'The access token is not valid');
}

/** What the token's scopes tell of its user. @throws {OAuthError} `insufficient_scope` */
function userClaims(
  { directory, serviceScope }: UserinfoDeps,
  { sub, scope, client_id: clientId }: AccessClaims,
): object {
  const scopes = scope.split(' ');
  if (!scopes.includes('openid'))
    throw refusal('insufficient_scope', 403, 'The token needs the scope openid');
  const user = directory.users.get(sub);
  // A client that acts for itself must never be taken for a user (RFC 9700 §4.15).
  if (user === undefined)
    throw refusal('insufficient_scope', 403, 'The token is that of a client: no user has signed in');
  return {
    sub,
    ...(scopes.includes('email') ? emailClaims(user) : {}),
    ...(scopes.includes(serviceScope) ? memberClaims(user, findClient(directory, clientId)) : {}),
  };
}

/** The claims of the service's scope: the same as in the tokens of this client. */
function memberClaims(user: User, client: OAuthClient | undefined): object {
  const { teams, primaryTeam } = teamsThrough(user, client);
  return { name: user.name, role: user.role, team: teams, primaryTeam };
}

/** A refusal with its challenge (RFC 6750 §3). The description holds no quotes. */
function refusal(code: OAuthErrorCode, status: number, description: string): OAuthError {
  const challenge = `Bearer error="${code}", error_description="${description}"`;
  return new OAuthError(code, description, { status, challenge });
}
