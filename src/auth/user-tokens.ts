import type { User } from '../storage/lmdb/records.ts';
import { issueAccessToken, type TokenSettings } from './access-token.ts';
import { findClient, teamsThrough } from './clients.ts';
import { issueIdToken } from './id-token.ts';
import type { SessionDeps, Turn } from './sessions.ts';
import { type TokenAnswer, tokenAnswer } from './token-answer.ts';

/**
 * Signs a client's tokens for its session, which must be on disk.
 * @param scope of the access token: that of the session, or a subset
 * @param nonce of the ID token, which is issued if the scope includes `openid`
 */
export async function signUserTokens(
  settings: TokenSettings & Pick<SessionDeps, 'directory'>,
  { key, session, refreshToken, access }: Turn,
  user: User,
  { scope, nonce }: { readonly scope: string; readonly nonce: string | null },
): Promise<TokenAnswer> {
  const { clientId, authTime } = session;
  const scopes = scope.split(' ');
  const { teams, primaryTeam } = teamsThrough(user, findClient(settings.directory, clientId));
  const subject = {
    sub: user.id,
    client_id: clientId,
    scope,
    role: user.role,
    team: [...teams],
    primaryTeam,
    email: user.email,
    name: user.name,
    sid: key,
  };
  const [accessToken, idToken] = await Promise.all([
    issueAccessToken(settings, subject, access),
    scopes.includes('openid')
      ? issueIdToken(settings, { user, clientId, session: key, scopes, authTime, nonce })
      : undefined,
  ]);
  return tokenAnswer(accessToken, scope, {
    refresh_token: refreshToken,
    ...(idToken === undefined ? {} : { id_token: idToken }),
  });
}
