import { hashSecret } from '../../../accounts/secrets.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { Reply, Request } from '../../../http/types.ts';
import type { IdentityProvider } from '../../../storage/lmdb/auth-records.ts';
import { type AtIssuer, takeSignIns } from '../../oauth/draft-sign-in.ts';
import { readForm } from '../../oauth/forms.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { endSignIn, noteEnd } from '../../oauth/sessions.ts';
import { clockTolerance, readUnverified } from '../../oauth/tokens.ts';
import { ProviderRefusal } from '../../sso/provider-refusal.ts';
import type { SsoServices } from '../../sso/services.ts';

/** The event of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
const event = 'http://schemas.openid.net/event/backchannel-logout';
/** A logout token without `exp` is accepted for so long, seconds. */
const lifetimeSeconds = 600;
const longestId = 255;

/**
 * Ends the sign-ins of a session at a provider, with their sessions here (OpenID Connect Back-Channel Logout 1.0).
 * @throws {OAuthError} `invalid_request` if the logout token is not valid
 */
export async function logOutFromProvider(
  settings: SsoServices,
  request: Request,
  provider: IdentityProvider,
): Promise<Reply> {
  const token = (await readForm(request)).get('logout_token');
  if (token === undefined) throw new OAuthError('invalid_request', 'logout_token is missing');
  const { jti, iat, exp, ended } = await readLogoutToken(settings, provider, token);
  const { clock, directory } = settings;
  const key = hashSecret(JSON.stringify([provider.issuer, jti]));
  await directory.under({ address: request.remoteAddress }).change((draft) => {
    if (draft.has('logoutTokens', key))
      throw new OAuthError('invalid_request', 'The logout token was used before');
    const lastSecond = Math.max(exp ?? 0, iat + lifetimeSeconds) + clockTolerance;
    draft.put('logoutTokens', key, lastSecond * 1000);
    const users = new Set<string>();
    for (const { userId, signIn } of takeSignIns(draft, ended)) {
      endSignIn({ clock }, draft, userId, signIn);
      users.add(userId);
    }
    for (const userId of users) noteEnd(draft, 'session.ended', userId);
  });
  return { status: 200, headers: { 'cache-control': 'no-store' } };
}

interface LogoutToken {
  readonly jti: string;
  readonly iat: number;
  readonly exp: number | undefined;
  readonly ended: AtIssuer;
}

/** Reads and checks a logout token (§2.6). @throws {OAuthError} `invalid_request` */
async function readLogoutToken(
  { issuers, clock }: SsoServices,
  { issuer, clientId }: IdentityProvider,
  token: string,
): Promise<LogoutToken> {
  const refuse = (description: string): never => {
    throw new OAuthError('invalid_request', description);
  };
  const { typ = 'JWT' } = readUnverified(token)?.header ?? {};
  if (!['jwt', 'logout+jwt'].includes(typ.toLowerCase())) refuse('The token is not a logout token');
  const claims = await issuers.verify(token, { issuer, audience: clientId }).catch((error) => {
    if (!(error instanceof ProviderRefusal)) throw error;
    if (error.code === 'provider_unreachable') throw new ApiError('backpressure', error.message, 5);
    return refuse(`The logout token is not valid: ${error.code}`);
  });
  const {
    jti,
    iat = 0,
    exp,
    sub,
    sid,
    events,
    nonce,
  } = claims as typeof claims & Readonly<Record<string, unknown>>;
  if (nonce !== undefined) refuse('The token is not a logout token');
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, event);
  if (!isLogout) refuse('The token is not a logout token');
  if (typeof jti !== 'string' || jti === '' || jti.length > longestId) refuse('jti is missing');
  const now = clock.now() / 1000;
  if (Math.abs(now - iat) > lifetimeSeconds) refuse('iat is missing, or too long ago');
  const ids = [sub, sid].filter((id) => id !== undefined);
  if (ids.length === 0 || ids.some((id) => typeof id !== 'string' || id === '' || id.length > longestId))
    refuse('sub or sid is required');
  const ended = { issuer, subject: sub ?? null, sid: (sid as string | undefined) ?? null };
  return { jti: jti as string, iat, exp, ended };
}
