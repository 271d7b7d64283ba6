import Type from 'typebox';
import type { AccountDraft } from '../../accounts/account-draft.ts';
import { text } from '../../contract/shapes/fields.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { type ClientForm, clientForm } from '../clients/client-endpoint.ts';
import { signInClientOf } from '../clients/clients.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { continueSession, endSession, noteReuse, type SessionDeps, type Turn, userOf } from '../sessions.ts';
import type { TokenSettings } from './access-token.ts';
import { isCurrent, readRefreshToken } from './refresh-token.ts';
import { signUserTokens, type TokenAnswer } from './token-answer.ts';

/** RFC 6749 §6: a session continues with new tokens, which replace the old ones. */
export const refreshTokenGrant: ClientForm<TokenAnswer, SessionDeps & TokenSettings> = clientForm({
  by: signInClientOf,
  fields: {
    grant_type: Type.Literal('refresh_token'),
    refresh_token: text('The latest refresh token of the session.'),
    scope: Type.Optional(text('A subset of the granted scopes.')),
  },
  async handle({ client: { clientId }, fields, request }, deps) {
    const token = readRefreshToken(fields.refresh_token);
    const redeem = (draft: AccountDraft) =>
      token && redeemRefreshToken(deps, draft, { token, clientId, scope: fields.scope });
    const refreshed = await deps.directory.under({ address: request.remoteAddress }).change(redeem);
    if (refreshed === undefined) throw new OAuthError('invalid_grant', 'The refresh token is not valid');
    const { turn, user, scope } = refreshed;
    return signUserTokens(deps, turn, user, { scope, nonce: null });
  },
});

/** A refresh token as a client sends it, and the requested scope, if any. */
interface PresentedToken {
  readonly token: NonNullable<ReturnType<typeof readRefreshToken>>;
  readonly clientId: string;
  readonly scope: string | undefined;
}

/**
 * Exchanges a refresh token for the next one; `undefined` if it is not valid. Of two requests with the same token, one
 * succeeds. Reuse of a refresh token means that it has leaked, and revokes the whole session (RFC 9700 §4.14).
 */
function redeemRefreshToken(
  deps: SessionDeps,
  draft: AccountDraft,
  { token, clientId, scope }: PresentedToken,
): { readonly turn: Turn; readonly user: User; readonly scope: string } | undefined {
  const session = draft.get('sessions', token.session);
  if (session === undefined || session.clientId !== clientId) return undefined;
  const user = userOf(deps, draft, session);
  const isReused = !isCurrent(token, session);
  if (isReused || user === undefined) {
    endSession(deps, draft, token.session);
    if (isReused) noteReuse(draft, 'refresh-token.reused', session.userId);
    return undefined;
  }
  const narrowed = narrow(session.scope, scope);
  return { turn: continueSession(deps, draft, token.sessionId, session), user, scope: narrowed };
}

/**
 * The granted scope, or the requested subset.
 * @throws {OAuthError} `invalid_scope` if it is not a subset
 */
function narrow(granted: string, wanted: string | undefined): string {
  if (wanted === undefined) return granted;
  const asked = wanted.split(' ').filter((scope) => scope !== '');
  const scopes = granted.split(' ');
  if (asked.length > 0 && asked.every((scope) => scopes.includes(scope)))
    return scopes.filter((scope) => asked.includes(scope)).join(' ');
  throw new OAuthError('invalid_scope', `scope must be a subset of: ${granted}`);
}
