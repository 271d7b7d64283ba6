import Type from 'typebox';
import type { Reply, Request } from '../../../http/types.ts';
import type { Authentication } from '../../../storage/lmdb/auth-records.ts';
import type { Browser } from '../../cookies/browser.ts';
import { redirect } from '../../oauth/authorization-request.ts';
import { findClient, matchesRedirect } from '../../oauth/clients.ts';
import { parseForm } from '../../oauth/forms.ts';
import { RoundTripCookie } from '../../sso/attempt.ts';
import { ProviderRefusal } from '../../sso/provider-refusal.ts';
import { urlsOf } from '../../sso/providers.ts';
import type { SsoServices } from '../../sso/services.ts';
import { signedOutPage } from '../pages/sign-out-pages.ts';

/** The client that a user returns to after a sign-out. */
export interface Destination {
  readonly clientId: string;
  readonly uri: string;
  /** Of the client. */
  readonly state: string | null;
}

/** What the browser keeps while its user signs out at a provider. */
const Return = Type.Object({
  /** Of the request to the provider. */
  state: Type.String(),
  clientId: Type.String(),
  uri: Type.String(),
  /** Of the client. */
  clientState: Type.Union([Type.Null(), Type.String()]),
  startedAt: Type.Integer(),
});

function returnCookie(deps: SsoServices) {
  const kind = { name: 'flagmeter-signed-out', purpose: 'sign-outs at providers', schema: Return } as const;
  return new RoundTripCookie(deps, { ...kind, slots: 1 });
}

/**
 * Sends a browser on to sign out of the provider that its sign-in came from (OpenID Connect RP-Initiated Logout 1.0). Returns
 * `undefined` if it came from none, or the provider cannot sign users out now.
 * @param back the client that the user returns to, and the browser
 */
export async function logOutAtProvider(
  deps: SsoServices,
  authentication: Authentication | undefined,
  back?: { readonly to: Destination; readonly browser: Browser },
): Promise<Reply | undefined> {
  const { issuer, clock, randomBytes, providers, providerClient } = deps;
  const { provider: session } = authentication ?? {};
  const provider = session && providers.find(session.id);
  if (session === undefined || provider === undefined) return undefined;
  const state = Buffer.from(randomBytes(32)).toString('base64url');
  const parameters = {
    post_logout_redirect_uri: urlsOf(issuer, provider).postLogoutRedirectUri,
    state,
    ...(session.idToken !== undefined && { id_token_hint: session.idToken }),
  };
  try {
    const url = await providerClient.endSessionUrl(provider, parameters);
    if (url === undefined) return undefined;
    const cookie = back && returnCookie(deps).write(back.browser, keptOf(back.to, state, clock.now()));
    const headers = { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    return { status: 303, headers, ...(cookie !== undefined && { cookies: [cookie] }) };
  } catch (error) {
    if (error instanceof ProviderRefusal) return undefined;
    throw error;
  }
}

function keptOf({ clientId, uri, state: clientState }: Destination, state: string, startedAt: number) {
  return { state, clientId, uri, clientState, startedAt };
}

/** Takes a browser back after the sign-out at a provider, and returns it to the client that asked for it. */
export function answerSignedOut(settings: SsoServices, request: Request): Reply {
  const { directory, audience, clock } = settings;
  const cookie = returnCookie(settings);
  const state = parseForm(request.query).get('state') ?? '';
  const found = cookie.read(request, state, clock.now());
  const client = found && findClient(directory, found.clientId);
  if (found === undefined || client === undefined || !matchesRedirect(client, found.uri, audience))
    return signedOutPage();
  return { ...redirect(found.uri, { state: found.clientState }), cookies: [cookie.remove(state)] };
}
