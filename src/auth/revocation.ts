import { actorOf } from '../accounts/actors.ts';
import type { Request, Route } from '../http/types.ts';
import { type ClientEndpointDeps, type ClientRequest, clientEndpoint } from './client-endpoint.ts';
import { parameter } from './form.ts';
import { invalidate } from './invalidate-token.ts';
import { OAuthError } from './oauth-error.ts';
import { readRefreshToken } from './refresh-token.ts';
import { noteEnd } from './session-notes.ts';
import { endSession, type SessionDeps } from './sessions.ts';
import { type ValidateToken, validOrNot } from './validate-token.ts';

export interface RevocationDeps extends SessionDeps, Omit<ClientEndpointDeps, 'directory'> {
  readonly validate: ValidateToken;
}

/**
 * `POST /connect/revocation` (RFC 7009): a client gives back a token of its own, and with it the session that it belongs
 * to. What is no token, or no longer one, is answered like one that was.
 */
export function revocationRoutes(deps: RevocationDeps): readonly Route[] {
  return [clientEndpoint(deps, '/connect/revocation', (request) => revoke(deps, request))];
}

async function revoke(deps: RevocationDeps, { form, request, authenticate }: ClientRequest) {
  const { id } = authenticate();
  const token = parameter(form, 'token');
  const refresh = readRefreshToken(token);
  if (refresh !== undefined) {
    await revokeSession(deps, refresh.session, id, request);
    return undefined;
  }
  const claims = await validOrNot(deps.validate, token);
  if (claims === undefined) return undefined;
  checkOwner(claims.client_id, id);
  await invalidate(deps, claims, request);
  return undefined;
}

/** Ends a session, by any of its refresh tokens: one that was used before is no reason to keep it. */
async function revokeSession(
  deps: SessionDeps,
  key: string,
  clientId: string,
  { remoteAddress }: Request,
): Promise<void> {
  const { engine, directory } = deps;
  const session = engine.get('sessions', key);
  if (session === undefined) return;
  checkOwner(session.clientId, clientId);
  await directory.by(actorOf(directory, session.userId, remoteAddress)).change((draft) => {
    if (endSession(deps, draft, key) !== undefined) noteEnd(draft, 'session.ended', session.userId);
  });
}

/** @throws {OAuthError} `invalid_grant` for what was issued to another client (RFC 7009 §2.1, RFC 6749 §5.2) */
function checkOwner(owner: string, clientId: string): void {
  if (owner !== clientId) throw new OAuthError('invalid_grant', 'The token was issued to another client');
}
