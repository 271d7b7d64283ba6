import Type from 'typebox';
import { postgresUnavailable, storeUnavailable } from '../../../contract/errors.ts';
import { text } from '../../../contract/shapes/fields.ts';
import { Challenge, type Endpoint, type Group, jsonAnswer, NotCached } from '../../../http/endpoint.ts';
import type { Reply, Request } from '../../../http/types.ts';
import { type ClientRates, holderKeyOf } from '../clients/client-limits.ts';
import { OAuthError, oauthErrorReply, oauthRefusal, uncached } from '../clients/oauth-error.ts';
import { readUnverified } from '../keys/jwt.ts';
import { endSession, noteEnd, type SessionDeps } from '../sessions/sessions.ts';
import { type AccessClaims, InvalidToken } from '../tokens/access-token.ts';
import { bearerToken } from '../tokens/bearer.ts';
import { addToList } from '../tokens/invalidation.ts';
import { isStillValid, type ValidateToken } from '../tokens/validate-token.ts';

interface InvalidateTokenDeps extends SessionDeps {
  readonly validate: ValidateToken;
  readonly rates: ClientRates;
}

const Invalidated = Type.Object(
  { message: text('A confirmation for people.') },
  { example: { message: 'The token is no longer valid' } },
);

const noToken = 'No bearer token is provided';
const notJwt = 'The token is not a well-formed JWT';

const invalidateToken: Endpoint<InvalidateTokenDeps> = {
  method: 'POST',
  path: '/api/account/invalidate-token',
  access: { credential: 'Access token', who: 'Its holder' },
  operation: {
    operationId: 'invalidateToken',
    summary: 'Sign out: invalidate an access token',
    description:
      'The request is the token itself, which may have any scope. It is rejected from the next request on. Its session ends, and with it the refresh token.',
    security: [{ oauth2: [] }],
    answers: {
      200: jsonAnswer(Invalidated, 'The token is invalidated, durably.', {
        'Cache-Control': NotCached,
      }),
      400: oauthRefusal('The token is not a well-formed JWT.', { invalid_token: notJwt }),
      401: oauthRefusal(
        'The token is missing or not valid.',
        { invalid_token: noToken },
        { 'WWW-Authenticate': Challenge },
      ),
    },
    refuses: { store_unavailable: storeUnavailable.changeNotKept, engine_unavailable: postgresUnavailable },
  },
  bind: (deps) => (request) => answer(deps, request),
};

/** `/api/account/invalidate-token`: signs out the holder of an access token. */
export const tokenInvalidation: Group<InvalidateTokenDeps> = {
  tag: 'Tokens',
  description: 'Access tokens, which the auth host issues.',
  endpoints: [invalidateToken],
};

async function answer(deps: InvalidateTokenDeps, request: Request): Promise<Reply> {
  const token = bearerToken(request);
  if (token === undefined) return refusal(401, noToken, 'Bearer');
  if (readUnverified(token) === undefined) return refusal(400, notJwt);
  try {
    const claims = await deps.validate(token);
    deps.rates.take(holderKeyOf(claims), deps.clock.monotonic());
    if (!(await invalidate(deps, claims, request))) throw new InvalidToken();
    return {
      status: 200,
      headers: uncached,
      body: JSON.stringify({ message: 'The token is no longer valid' }),
    };
  } catch (error) {
    if (error instanceof OAuthError) return oauthErrorReply(error);
    if (!(error instanceof InvalidToken)) throw error;
    return refusal(401, error.message, 'Bearer error="invalid_token"');
  }
}

/**
 * Adds a token to the invalidation list and ends its session; resolves when that is on disk. Returns `false` if the token is no
 * longer valid. Of concurrent requests, one invalidates it.
 * @throws {ApiError} `store_unavailable`
 */
export function invalidate(
  deps: SessionDeps,
  claims: AccessClaims,
  { remoteAddress }: Request,
): Promise<boolean> {
  const { directory } = deps;
  return directory.under({ id: claims.sub, address: remoteAddress }).change((draft) => {
    if (!isStillValid(deps, claims, draft)) return false;
    addToList(draft, claims);
    if (claims.sid !== undefined) endSession(deps, draft, claims.sid);
    noteEnd(draft, 'token.invalidated', claims.sub);
    return true;
  });
}

function refusal(status: number, description: string, challenge?: string): Reply {
  return oauthErrorReply(new OAuthError('invalid_token', description, { status, challenge }));
}
