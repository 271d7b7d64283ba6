import Type from 'typebox';
import { hashSecret } from '../../../accounts/secrets.ts';
import { Refusal } from '../../../contract/errors.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import type { Authentication, IdentityProvider } from '../../../storage/lmdb/auth-records.ts';
import type { Browser } from '../../cookies/browser.ts';
import { redirect } from '../../oauth/authorization-request.ts';
import { findClient, matchesRedirect } from '../../oauth/clients.ts';
import { parseForm, readForm } from '../../oauth/forms.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { type AtIssuer, takeSignIns } from '../../oauth/record-sign-in.ts';
import { endSignIn, noteEnd } from '../../oauth/sessions.ts';
import { clockTolerance, readUnverified } from '../../oauth/tokens.ts';
import { RoundTripCookie } from '../../sso/attempt.ts';
import { ProviderRefusal } from '../../sso/provider-refusal.ts';
import { buildProviderUrls } from '../../sso/providers.ts';
import type { SsoServices } from '../../sso/services.ts';
import { signedOutPage } from '../pages/sign-out-pages.ts';

/** The client that a user returns to after a sign-out. */
export interface Destination {
  readonly clientId: string;
  readonly uri: string;
  readonly state: string | null;
}

/** The content of the cookie that a browser keeps while the user signs out at a provider. */
const Return = Type.Object({
  /** The `state` of the request to the provider. */
  state: Type.String(),
  clientId: Type.String(),
  uri: Type.String(),
  clientState: Type.Union([Type.Null(), Type.String()]),
  startedAt: Type.Integer(),
});

function returnCookie(services: SsoServices) {
  const kind = { name: 'flagmeter-signed-out', purpose: 'sign-outs at providers', schema: Return } as const;
  return new RoundTripCookie(services, { ...kind, slots: 1 });
}

/**
 * Redirects a browser to the provider of its sign-in, to sign the user out at the provider (OpenID Connect RP-Initiated
 * Logout 1.0). Returns `undefined` if the user signed in without a provider, or the provider cannot sign users out now.
 * @param back the client that the user returns to, and the browser
 */
export async function logOutAtProvider(
  services: SsoServices,
  authentication: Authentication | undefined,
  back?: { readonly to: Destination; readonly browser: Browser },
): Promise<HttpResponse | undefined> {
  const { issuer, clock, randomBytes, providers, providerClient } = services;
  const { provider: session } = authentication ?? {};
  const provider = session && providers.find(session.id);
  if (session === undefined || provider === undefined) return undefined;
  const state = Buffer.from(randomBytes(32)).toString('base64url');
  const parameters = {
    post_logout_redirect_uri: buildProviderUrls(issuer, provider).postLogoutRedirectUri,
    state,
    ...(session.idToken !== undefined && { id_token_hint: session.idToken }),
  };
  try {
    const url = await providerClient.endSessionUrl(provider, parameters);
    if (url === undefined) return undefined;
    const cookie = back && returnCookie(services).write(back.browser, createReturnState(back.to, state, clock.now()));
    const headers = { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    return { status: 303, headers, ...(cookie !== undefined && { cookies: [cookie] }) };
  } catch (error) {
    if (error instanceof ProviderRefusal) return undefined;
    throw error;
  }
}

function createReturnState({ clientId, uri, state: clientState }: Destination, state: string, startedAt: number) {
  return { state, clientId, uri, clientState, startedAt };
}

/** Handles the return from a sign-out at a provider. Redirects to the client that requested the sign-out. */
export function handleSignedOut(services: SsoServices, request: Request): HttpResponse {
  const { directory, audience, clock } = services;
  const cookie = returnCookie(services);
  const state = parseForm(request.query).get('state') ?? '';
  const found = cookie.read(request, state, clock.now());
  const client = found && findClient(directory, found.clientId);
  if (found === undefined || client === undefined || !matchesRedirect(client, found.uri, audience))
    return signedOutPage();
  return { ...redirect(found.uri, { state: found.clientState }), cookies: [cookie.remove(state)] };
}

/** The event of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
const event = 'http://schemas.openid.net/event/backchannel-logout';
/** Lifetime of a logout token without `exp`, seconds. */
const lifetimeSeconds = 600;
const longestId = 255;

/**
 * Ends the sign-ins that came from a session at a provider, and the sessions of these sign-ins (OpenID Connect
 * Back-Channel Logout 1.0).
 * @throws {OAuthError} `invalid_request` if the logout token is not valid
 */
export async function logOutFromProvider(
  services: SsoServices,
  request: Request,
  provider: IdentityProvider,
): Promise<HttpResponse> {
  const token = (await readForm(request)).get('logout_token');
  if (token === undefined) throw new OAuthError('invalid_request', 'logout_token is missing');
  const { jti, iat, exp, ended } = await readLogoutToken(services, provider, token);
  const { clock, directory } = services;
  const key = hashSecret(JSON.stringify([provider.issuer, jti]));
  await directory.under({ address: request.remoteAddress }).change((tx) => {
    if (tx.has('logoutTokens', key)) throw new OAuthError('invalid_request', 'The logout token was used before');
    const lastSecond = Math.max(exp ?? 0, iat + lifetimeSeconds) + clockTolerance;
    tx.put('logoutTokens', key, lastSecond * 1000);
    const users = new Set<string>();
    for (const { userId, signIn } of takeSignIns(tx, ended)) {
      endSignIn({ clock }, tx, userId, signIn);
      users.add(userId);
    }
    for (const userId of users) noteEnd(tx, 'session.ended', userId);
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
    if (error.code === 'provider_unreachable') throw new Refusal('backpressure', error.message, 5);
    return refuse(`The logout token is not valid: ${error.code}`);
  });
  const { jti, iat = 0, exp, sub, sid, events, nonce } = claims as typeof claims & Readonly<Record<string, unknown>>;
  if (nonce !== undefined) refuse('The token is not a logout token');
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, event);
  if (!isLogout) refuse('The token is not a logout token');
  if (typeof jti !== 'string' || jti === '' || jti.length > longestId) refuse('jti is missing');
  const now = clock.now() / 1000;
  if (Math.abs(now - iat) > lifetimeSeconds) refuse('iat is missing or too old');
  const ids = [sub, sid].filter((id) => id !== undefined);
  if (ids.length === 0 || ids.some((id) => typeof id !== 'string' || id === '' || id.length > longestId))
    refuse('sub or sid is required');
  const ended = { issuer, subject: sub ?? null, sid: (sid as string | undefined) ?? null };
  return { jti: jti as string, iat, exp, ended };
}
