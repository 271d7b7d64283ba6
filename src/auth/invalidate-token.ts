import { actorOf } from '../accounts/actors.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { type AccessClaims, InvalidToken } from './access-token.ts';
import { bearerToken } from './bearer.ts';
import { type ClientRates, holderKeyOf } from './client-rates.ts';
import { addToList } from './invalidation.ts';
import { isWellFormedJwt } from './jwt-form.ts';
import { OAuthError, oauthErrorReply, uncached } from './oauth-error.ts';
import { noteEnd } from './session-notes.ts';
import { endSession, type SessionDeps } from './sessions.ts';
import type { ValidateToken } from './validate-token.ts';

export interface InvalidateTokenDeps extends SessionDeps {
  readonly validate: ValidateToken;
  readonly rates: ClientRates;
}

/** `POST /api/account/invalidate-token`: signs the holder of an access token out. The token is the whole request. */
export function invalidateTokenRoutes(deps: InvalidateTokenDeps): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/account/invalidate-token',
      handle: (request) => answer(deps, request),
    },
  ];
}

async function answer(deps: InvalidateTokenDeps, request: Request): Promise<Reply> {
  const token = bearerToken(request);
  if (token === undefined) return refusal(401, 'No bearer token is provided', 'Bearer');
  if (!isWellFormedJwt(token)) return refusal(400, 'The token is not a well-formed JWT');
  try {
    const claims = await deps.validate(token);
    deps.rates.take(holderKeyOf(claims), deps.clock.monotonic());
    await invalidate(deps, claims, request);
    return {
      status: 200,
      headers: uncached,
      body: JSON.stringify({ message: 'The token is no longer valid' }),
    };
  } catch (error) {
    if (error instanceof OAuthError) return oauthErrorReply(error);
    if (!(error instanceof InvalidToken)) throw error;
    return refusal(401, 'The token is not valid', 'Bearer error="invalid_token"');
  }
}

/**
 * Puts a valid token on the invalidation list and ends its session; resolves when that is on disk.
 * @throws {ApiError} `store_unavailable`
 */
export function invalidate(
  deps: SessionDeps,
  claims: AccessClaims,
  { remoteAddress }: Request,
): Promise<void> {
  const { directory } = deps;
  return directory.by(actorOf(directory, claims.sub, remoteAddress)).change((draft) => {
    addToList(draft, claims);
    if (claims.sid !== undefined) endSession(deps, draft, claims.sid);
    noteEnd(draft, 'token.invalidated', claims.sub);
  });
}

function refusal(status: number, description: string, challenge?: string): Reply {
  return {
    status,
    headers: challenge === undefined ? uncached : { ...uncached, 'www-authenticate': challenge },
    body: JSON.stringify({ error: 'invalid_token', error_description: description }),
  };
}
