import Type, { type Static } from 'typebox';
import { count, type Shown, shape, text } from '../../../contract/shapes/fields.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import { findClient, teamsThrough } from '../clients/clients.ts';
import { accessTokenLifetime } from '../keys/signing-keys.ts';
import type { SessionDeps, Turn } from '../sessions/sessions.ts';
import { issueAccessToken, type TokenSettings } from '../tokens/access-token.ts';
import { issueIdToken } from '../tokens/id-token.ts';

/** The answer of the token endpoint (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
export const TokenAnswer = shape(
  'Tokens',
  {
    access_token: text('A JWT, for `Authorization: Bearer`.'),
    expires_in: count('Lifetime of the access token, in seconds.'),
    token_type: Type.Literal('Bearer'),
    scope: text('The granted scopes, separated by spaces.'),
    refresh_token: Type.Optional(text('The token for the next refresh, valid once. Only for users.')),
    issued_token_type: Type.Optional(text('The type of the token, if it was exchanged (RFC 8693 §2.2.1).')),
    id_token: Type.Optional(text('Identifies the user (OpenID Connect Core §2). Only for users.')),
  },
  { access_token: 'eyJ…', expires_in: accessTokenLifetime, token_type: 'Bearer', scope: 'openid flagmeter' },
);
export type TokenAnswer = Shown<Static<typeof TokenAnswer>>;

/** The answer with a new access token and the tokens that accompany it. */
export function tokenAnswer(
  accessToken: string,
  scope: string,
  beside: Pick<TokenAnswer, 'refresh_token' | 'id_token'> = {},
): TokenAnswer {
  return {
    access_token: accessToken,
    expires_in: accessTokenLifetime,
    token_type: 'Bearer',
    scope,
    ...beside,
  };
}

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
