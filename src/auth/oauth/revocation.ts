import Type from 'typebox';
import { postgresUnavailable, storeUnavailable } from '../../contract/errors.ts';
import { text } from '../../contract/shapes/fields.ts';
import { Challenge, type Endpoint, type Group, jsonResponse, NotCached } from '../../http/endpoint.ts';
import type { HttpResponse, Request } from '../../http/types.ts';
import { type AuthenticatedClient, holderKey } from './clients.ts';
import { type ClientCall, type ClientServices, clientEndpoint, clientForm } from './forms.ts';
import { OAuthError, oauthErrorResponse, oauthRefusal, uncached } from './oauth-error.ts';
import type { Services } from './services.ts';
import { endSession, noteEnd, readRefreshToken } from './sessions.ts';
import { type AccessClaims, addToList, InvalidToken, readUnverified } from './tokens.ts';
import { bearerToken, isStillValid, validOrNot } from './validation.ts';

/** The fields of a form with a token (RFC 7009 §2.1, RFC 7662 §2.1). */
export const tokenFields = {
  token: text('An access token or a refresh token.'),
  token_type_hint: Type.Optional(text('Ignored: the type is recognised from the token.')),
};

const ofOther = 'The token was issued to another client';

const form = clientForm({ by: (client) => client, fields: tokenFields, handle: revoke });

/** `POST /connect/revocation` (RFC 7009): a client revokes its token and the token's session. */
export const revocationEndpoint: Endpoint<ClientServices> = clientEndpoint('/connect/revocation', {
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  description:
    'Ends the session that the token belongs to. The response is also 200 for a token that is not valid (RFC 7009 §2.2).',
  who: 'The client that the token was issued to',
  forms: [form],
  response: { description: 'The token is durably revoked.', headers: {} },
  refuses: { invalid_grant: ofOther },
});

async function revoke(
  { client: { id }, fields: { token }, request }: ClientCall<AuthenticatedClient, { token: string }>,
  services: ClientServices,
): Promise<undefined> {
  const refresh = readRefreshToken(token);
  if (refresh !== undefined) {
    await revokeSession(services, refresh.session, id, request);
    return undefined;
  }
  const claims = await validOrNot(services.validate, token);
  if (claims === undefined) return undefined;
  checkOwner(claims.client_id, id);
  await invalidate(services, claims, request);
  return undefined;
}

/** Ends the session of a refresh token, even if a newer refresh token has replaced this token. */
async function revokeSession(
  services: Services,
  key: string,
  clientId: string,
  { remoteAddress }: Request,
): Promise<void> {
  const { accountStore, directory } = services;
  const session = accountStore.get('sessions', key);
  if (session === undefined) return;
  checkOwner(session.clientId, clientId);
  await directory.under({ id: session.userId, address: remoteAddress }).change((tx) => {
    if (endSession(services, tx, key) !== undefined) noteEnd(tx, 'session.ended', session.userId);
  });
}

/** @throws {OAuthError} `invalid_grant` for a token of another client (RFC 7009 §2.1, RFC 6749 §5.2) */
function checkOwner(owner: string, clientId: string): void {
  if (owner !== clientId) throw new OAuthError('invalid_grant', ofOther);
}

const Invalidated = Type.Object(
  { message: text('A confirmation for people.') },
  { example: { message: 'The token is no longer valid' } },
);

const noToken = 'No bearer token is provided';
const notJwt = 'The token is not a well-formed JWT';

const invalidateToken: Endpoint<ClientServices> = {
  method: 'POST',
  path: '/api/account/invalidate-token',
  access: { credential: 'Access token', who: 'The holder of the token' },
  operation: {
    operationId: 'invalidateToken',
    summary: 'Sign out: invalidate an access token',
    description:
      'Invalidates the bearer token of the request, which can have any scope. The next request with the token is rejected. Its session and its refresh token end, too.',
    security: [{ oauth2: [] }],
    responses: {
      200: jsonResponse(Invalidated, 'The token is durably invalidated.', { 'Cache-Control': NotCached }),
      400: oauthRefusal('The token is not a well-formed JWT.', { invalid_token: notJwt }),
      401: oauthRefusal(
        'The token is missing or not valid.',
        { invalid_token: noToken },
        { 'WWW-Authenticate': Challenge },
      ),
    },
    refuses: { store_unavailable: storeUnavailable.changeNotKept, postgres_unavailable: postgresUnavailable },
  },
  bind: (services) => (request) => handleInvalidation(services, request),
};

/** `/api/account/invalidate-token`: signs out the holder of an access token. */
export const tokenInvalidation: Group<ClientServices> = {
  tag: 'Tokens',
  description: 'Access tokens, which the auth host issues.',
  endpoints: [invalidateToken],
};

async function handleInvalidation(services: ClientServices, request: Request): Promise<HttpResponse> {
  const token = bearerToken(request);
  if (token === undefined) return refusal(401, noToken, 'Bearer');
  if (readUnverified(token) === undefined) return refusal(400, notJwt);
  try {
    const claims = await services.validate(token);
    services.rates.take(holderKey(claims), services.clock.monotonic());
    if (!(await invalidate(services, claims, request))) throw new InvalidToken();
    return { status: 200, headers: uncached, body: JSON.stringify({ message: 'The token is no longer valid' }) };
  } catch (error) {
    if (error instanceof OAuthError) return oauthErrorResponse(error);
    if (!(error instanceof InvalidToken)) throw error;
    return refusal(401, error.message, 'Bearer error="invalid_token"');
  }
}

/**
 * Adds a token to the invalidation list and ends its session. Resolves when the change is on disk, with `false` if the
 * token is no longer valid. If several requests invalidate a token at the same time, one of them succeeds.
 * @throws {Refusal} `store_unavailable`
 */
function invalidate(services: Services, claims: AccessClaims, { remoteAddress }: Request): Promise<boolean> {
  const { directory } = services;
  return directory.under({ id: claims.sub, address: remoteAddress }).change((tx) => {
    if (!isStillValid(services, claims, tx)) return false;
    addToList(tx, claims);
    if (claims.sid !== undefined) endSession(services, tx, claims.sid);
    noteEnd(tx, 'token.invalidated', claims.sub);
    return true;
  });
}

function refusal(status: number, description: string, challenge?: string): HttpResponse {
  return oauthErrorResponse(new OAuthError('invalid_token', description, { status, challenge }));
}
