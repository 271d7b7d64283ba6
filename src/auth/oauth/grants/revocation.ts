import type { Endpoint } from '../../../http/endpoint.ts';
import type { Request } from '../../../http/types.ts';
import { type ClientCall, clientEndpoint, clientForm } from '../clients/client-endpoint.ts';
import type { AuthenticatedClient } from '../clients/clients.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { endSession, noteEnd, type SessionDeps } from '../sessions/sessions.ts';
import { readRefreshToken } from '../tokens/refresh-token.ts';
import { validOrNot } from '../tokens/validate-token.ts';
import { invalidate } from './invalidate-token.ts';
import { type TokenDeps, tokenFields } from './token-form.ts';

const ofOther = 'The token was issued to another client';

const form = clientForm({ by: (client) => client, fields: tokenFields, handle: revoke });

/** `POST /connect/revocation` (RFC 7009): a client revokes one of its tokens, and the token's session. */
export const revocationEndpoint: Endpoint<TokenDeps> = clientEndpoint('/connect/revocation', {
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  description:
    'Ends the session that the token belongs to. The answer is also 200 for a token that is not valid (RFC 7009 §2.2).',
  who: 'The client that the token was issued to',
  forms: [form],
  answer: { description: 'The token is revoked, durably.', headers: {} },
  refuses: { invalid_grant: ofOther },
});

async function revoke(
  { client: { id }, fields: { token }, request }: ClientCall<AuthenticatedClient, { token: string }>,
  deps: TokenDeps,
): Promise<undefined> {
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

/** Ends a session by any of its refresh tokens, even a spent one. */
async function revokeSession(
  deps: SessionDeps,
  key: string,
  clientId: string,
  { remoteAddress }: Request,
): Promise<void> {
  const { accountStore, directory } = deps;
  const session = accountStore.get('sessions', key);
  if (session === undefined) return;
  checkOwner(session.clientId, clientId);
  await directory.under({ id: session.userId, address: remoteAddress }).change((draft) => {
    if (endSession(deps, draft, key) !== undefined) noteEnd(draft, 'session.ended', session.userId);
  });
}

/** @throws {OAuthError} `invalid_grant` for a token of another client (RFC 7009 §2.1, RFC 6749 §5.2) */
function checkOwner(owner: string, clientId: string): void {
  if (owner !== clientId) throw new OAuthError('invalid_grant', ofOther);
}
