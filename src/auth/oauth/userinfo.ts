import Type, { type Static } from 'typebox';
import { boolean, type DeepReadonly, list, text } from '../../contract/shapes/fields.ts';
import { type Endpoint, type Headers, jsonResponse, NotCached, type Operation } from '../../http/endpoint.ts';
import type { HttpResponse, Request } from '../../http/types.ts';
import type { OAuthClient, User } from '../../storage/lmdb/records.ts';
import { findClient, teamsThrough } from './clients.ts';
import type { ClientServices } from './forms.ts';
import { isForm, readForm } from './forms.ts';
import { OAuthError, type OAuthErrorCode, oauthErrorResponse, oauthRefusal, uncached } from './oauth-error.ts';
import { type AccessClaims, emailClaims } from './tokens.ts';
import { bearerToken, validOrNot } from './validation.ts';

/** Headers that let web pages of any origin read the response. This is safe: no browser sends the token by itself. */
const readableByPages = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'www-authenticate' };

const preflight: HttpResponse = {
  status: 204,
  headers: {
    ...readableByPages,
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '7200',
  },
};

/** The response to a request without a token. It names only the authentication scheme (RFC 6750 §3.1). */
const unasked: HttpResponse = { status: 401, headers: { 'cache-control': 'no-store', 'www-authenticate': 'Bearer' } };

/** The claims of a user that the scopes of the access token allow (OpenID Connect Core §5.3.2). */
const UserClaims = Type.Object(
  {
    sub: text('Id of the user.'),
    email: Type.Optional(text('Only with the scope `email`.')),
    email_verified: Type.Optional(boolean('Always false: addresses are not verified.')),
    name: Type.Optional(text('Full name. This and the following claims require the scope of this service.')),
    role: Type.Optional(text('Role of the user.')),
    team: Type.Optional(list(Type.String(), 'Ids of the teams of the token.')),
    primaryTeam: Type.Optional(Type.String()),
  },
  { component: 'UserClaims', example: { sub: 'user_1', email: 'ada@example.com', email_verified: false } },
);
type UserClaims = DeepReadonly<Static<typeof UserClaims>>;

const BearerChallenge = {
  'WWW-Authenticate': {
    component: 'BearerChallenge',
    description: 'Names an error only if the request had a token (RFC 6750 §3).',
    required: true,
    schema: { type: 'string' },
  },
};
const notValid = 'The access token is not valid';
const twoTokens = 'Send the token in the header or the form, not both';
const noUser = 'The token belongs to a client, not to a user';

/** Declares the response headers `readableByPages`. */
const Readable: Headers = {
  'Access-Control-Allow-Origin': { required: true, schema: { const: '*' } },
  'Access-Control-Expose-Headers': { required: true, schema: { const: 'www-authenticate' } },
};
const Refused: Headers = { ...Readable, ...BearerChallenge };

const responses: Operation['responses'] = {
  200: jsonResponse(UserClaims, 'The claims of the user.', { ...Readable, 'Cache-Control': NotCached }),
  400: oauthRefusal('The request is malformed.', { invalid_request: twoTokens }, Refused),
  401: {
    ...oauthRefusal('The token is not valid.', { invalid_token: notValid }, Refused),
    description: 'The token is not valid. Without a token, the response has no body.',
  },
  403: oauthRefusal('The token lacks a scope or a user.', { insufficient_scope: noUser }, Refused),
};
const summary = 'Read the claims of the user of an access token';
const description = 'Pages of any origin can call this endpoint.';
const security = [{ bearer: [] }];
const endpoint = {
  path: '/connect/userinfo',
  access: { credential: 'Access token', who: 'A user who granted `openid`' },
  bind: (services: ClientServices) => async (request: Request) => {
    const response = await handleUserinfo(services, request);
    return { ...response, headers: { ...response.headers, ...readableByPages } };
  },
} as const;

/** `GET` and `POST /connect/userinfo`: the claims of an access token's user (OpenID Connect Core §5.3). */
export const userinfoEndpoints: readonly Endpoint<ClientServices>[] = [
  { ...endpoint, method: 'GET', operation: { operationId: 'getUserinfo', summary, description, security, responses } },
  {
    ...endpoint,
    method: 'POST',
    operation: {
      operationId: 'postUserinfo',
      summary,
      description: `${description} The token can also be in the form field \`access_token\` (RFC 6750 §2.2).`,
      security,
      responses,
    },
  },
  {
    method: 'OPTIONS',
    path: endpoint.path,
    access: { credential: 'None', who: 'Pages of any origin' },
    bind: () => () => preflight,
  },
];

async function handleUserinfo(services: ClientServices, request: Request): Promise<HttpResponse> {
  try {
    const token = await readToken(request);
    if (token === undefined) return unasked;
    const body = userClaims(services, await validate(services, token));
    return { status: 200, headers: uncached, body: JSON.stringify(body) };
  } catch (error) {
    if (error instanceof OAuthError) return oauthErrorResponse(error);
    throw error;
  }
}

/**
 * Reads the access token from the header or from a form (RFC 6750 §2.1, §2.2).
 * @throws {OAuthError} `invalid_request` if the token is in both, or the form cannot be read
 */
async function readToken(request: Request): Promise<string | undefined> {
  const inHeader = bearerToken(request);
  const inForm =
    request.method === 'POST' && isForm(request) ? (await readForm(request)).get('access_token') : undefined;
  if (inHeader !== undefined && inForm !== undefined) throw refusal('invalid_request', 400, twoTokens);
  return inHeader ?? inForm;
}

async function validate(services: ClientServices, token: string): Promise<AccessClaims> {
  const claims = await validOrNot(services.validate, token);
  if (claims !== undefined) return claims;
  throw refusal('invalid_token', 401, notValid);
}

/**
 * Returns the claims of the user that the scopes of the token allow.
 * @throws {OAuthError} `insufficient_scope`
 */
function userClaims(
  { directory, serviceScope }: ClientServices,
  { sub, scope, client_id: clientId }: AccessClaims,
): UserClaims {
  const scopes = scope.split(' ');
  if (!scopes.includes('openid')) throw refusal('insufficient_scope', 403, 'The token lacks the scope openid');
  const user = directory.users.get(sub);
  // A token of a client that acts for itself must never be accepted as a user's token (RFC 9700 §4.15).
  if (user === undefined) throw refusal('insufficient_scope', 403, noUser);
  return {
    sub,
    ...(scopes.includes('email') ? emailClaims(user) : {}),
    ...(scopes.includes(serviceScope) ? memberClaims(user, findClient(directory, clientId)) : {}),
  };
}

/** The claims for the scope of this service, the same as in the access tokens of the client. */
function memberClaims(user: User, client: OAuthClient | undefined): Omit<UserClaims, 'sub'> {
  const { teams, primaryTeam } = teamsThrough(user, client);
  return { name: user.name, role: user.role, team: teams, primaryTeam };
}

/** Makes a refusal with its challenge (RFC 6750 §3). The description must not contain quotes. */
function refusal(code: OAuthErrorCode, status: number, description: string): OAuthError {
  const challenge = `Bearer error="${code}", error_description="${description}"`;
  return new OAuthError(code, description, { status, challenge });
}
