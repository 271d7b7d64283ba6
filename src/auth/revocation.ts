import type { Route } from '../http/types.ts';
import { commit } from '../store/transact.ts';
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
export function revocationRoutes(parts: RevocationDeps): readonly Route[] {
  return [clientEndpoint(parts, '/connect/revocation', (request) => revoke(parts, request))];
}

async function revoke(parts: RevocationDeps, { form, request, authenticate }: ClientRequest) {
  const { id } = authenticate();
  const token = parameter(form, 'token');
  const refresh = readRefreshToken(token);
  if (refresh !== undefined) {
    const userId = revokeSession(parts, refresh.session, id);
    if (userId !== undefined) await noteEnd(parts.directory, 'session.ended', userId, request);
    return undefined;
  }
  const claims = await validOrNot(parts.validate, token);
  if (claims === undefined) return undefined;
  checkOwner(claims.client_id, id);
  invalidate(parts, claims);
  await noteEnd(parts.directory, 'token.invalidated', claims.sub, request);
  return undefined;
}

/** Ends a session, by any of its refresh tokens: one that was used before is no reason to keep it. Gives its user. */
function revokeSession(parts: SessionDeps, key: string, clientId: string): string | undefined {
  const { accounts, health } = parts;
  return commit(accounts.lmdb, health, () => {
    const session = accounts.sessions.get(key);
    if (session === undefined) return undefined;
    checkOwner(session.clientId, clientId);
    return endSession(parts, key)?.userId;
  });
}

/** @throws {OAuthError} `invalid_grant` for what was issued to another client (RFC 7009 §2.1, RFC 6749 §5.2) */
function checkOwner(owner: string, clientId: string): void {
  if (owner !== clientId) throw new OAuthError('invalid_grant', 'The token was issued to another client');
}
