import type { Request } from '../http/types.ts';
import type { OAuthClient, User } from '../store/records.ts';
import { commit } from '../store/transact.ts';
import type { TokenSettings } from './access-token.ts';
import { type Form, parameter } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import { isCurrent, readRefreshToken } from './refresh-token.ts';
import { noteReuse } from './session-notes.ts';
import { continueSession, endSession, type SessionDeps, type Turn, userOf } from './sessions.ts';
import type { TokenAnswer } from './token-answer.ts';
import { signUserTokens } from './user-tokens.ts';

/** RFC 6749 §6: a session goes on with new tokens, and the old ones are good for nothing from now on. */
export async function grantRefreshToken(
  parts: SessionDeps & TokenSettings,
  client: OAuthClient,
  form: Form,
  request: Request,
): Promise<TokenAnswer> {
  const refresh = redeemRefreshToken(parts, client, parameter(form, 'refresh_token'), form.get('scope'));
  if (refresh.outcome === 'reused')
    await noteReuse(parts.directory, 'refresh-token.reused', refresh.userId, request);
  if (refresh.outcome !== 'exchanged')
    throw new OAuthError('invalid_grant', 'The refresh token is not valid');
  return signUserTokens(parts, refresh.turn, refresh.user, { scope: refresh.scope, nonce: null });
}

/** What became of a refresh token: exchanged for the next, refused, or used before, which has ended its session. */
type Refresh =
  | { readonly outcome: 'exchanged'; readonly turn: Turn; readonly user: User; readonly scope: string }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'reused'; readonly userId: string };

const refused: Refresh = { outcome: 'refused' };

/** All in one transaction, with nothing in between: of two that bring the same token at once one gets the next. */
function redeemRefreshToken(
  parts: SessionDeps,
  { clientId }: OAuthClient,
  text: string,
  wanted: string | undefined,
): Refresh {
  const token = readRefreshToken(text);
  if (token === undefined) return refused;
  const { accounts, health } = parts;
  return commit(accounts.lmdb, health, () => {
    const session = accounts.sessions.get(token.session);
    if (session === undefined || session.clientId !== clientId) return refused;
    const user = userOf(parts, session);
    const reused = !isCurrent(token, session);
    if (reused || user === undefined) {
      endSession(parts, token.session);
      return reused ? { outcome: 'reused', userId: session.userId } : refused;
    }
    const scope = narrow(session.scope, wanted);
    return { outcome: 'exchanged', turn: continueSession(parts, token.sessionId, session), user, scope };
  });
}

/** What was granted, or the part of it that is asked for. @throws {OAuthError} `invalid_scope` when it is no part of it */
function narrow(granted: string, wanted: string | undefined): string {
  if (wanted === undefined) return granted;
  const asked = wanted.split(' ').filter((scope) => scope !== '');
  const scopes = granted.split(' ');
  if (asked.length > 0 && asked.every((scope) => scopes.includes(scope)))
    return scopes.filter((scope) => asked.includes(scope)).join(' ');
  throw new OAuthError('invalid_scope', `scope must be a part of: ${granted}`);
}
