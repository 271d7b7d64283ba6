import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { hashSecret, matchesHash, type RandomBytes } from '../../accounts/secrets.ts';
import { cookiesOf } from '../../http/cookies.ts';
import type { Reply, Request } from '../../http/types.ts';
import type { Authentication } from '../../storage/lmdb/auth-records.ts';
import { redirect } from '../authorize/authorization-response.ts';
import { findClient, matchesRedirect } from '../clients/clients.ts';
import { parseForm } from '../clients/form.ts';
import { signedOutPage } from '../pages/sign-out-pages.ts';
import type { ProviderClient } from './provider-client.ts';
import { ProviderRefusal } from './provider-refusal.ts';
import { type Providers, urlsOf } from './providers.ts';
import type { SsoSettings } from './sso-settings.ts';

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
  key: Type.String(),
  clientId: Type.String(),
  uri: Type.String(),
  state: Type.Union([Type.Null(), Type.String()]),
});
type Return = Static<typeof Return>;

/** How long the sign-out at a provider may take. */
const lifetimeSeconds = 600;
const longestCookie = 3800;

export interface LogoutDeps {
  readonly issuer: string;
  readonly randomBytes: RandomBytes;
  readonly providers: Providers;
  readonly providerClient: ProviderClient;
}

/**
 * Sends a browser on to sign out of the provider that its sign-in came from (OpenID Connect RP-Initiated Logout 1.0). Returns
 * `undefined` if it came from none, or the provider cannot sign users out now.
 * @param returnTo the client that the user returns to
 */
export async function logOutAtProvider(
  deps: LogoutDeps,
  authentication: Authentication | undefined,
  returnTo?: Destination,
): Promise<Reply | undefined> {
  const { issuer, randomBytes, providers, providerClient } = deps;
  const { provider: session } = authentication ?? {};
  const provider = session && providers.find(session.id);
  if (session === undefined || provider === undefined) return undefined;
  const key = Buffer.from(randomBytes(32)).toString('base64url');
  const parameters = {
    post_logout_redirect_uri: urlsOf(issuer, provider).postLogoutRedirectUri,
    state: key,
    ...(session.idToken !== undefined && { id_token_hint: session.idToken }),
  };
  try {
    const url = await providerClient.endSessionUrl(provider, parameters);
    if (url === undefined) return undefined;
    const cookie = returnTo && write(issuer, { ...returnTo, key });
    const headers = { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    return { status: 303, headers, ...(cookie !== undefined && { cookies: [cookie] }) };
  } catch (error) {
    if (error instanceof ProviderRefusal) return undefined;
    throw error;
  }
}

/** Takes a browser back after the sign-out at a provider, and returns it to the client that asked for it. */
export function answerSignedOut(settings: SsoSettings, request: Request): Reply {
  const { directory, audience, issuer } = settings;
  const found = read(issuer, request, parseForm(request.query).get('state') ?? '');
  const client = found && findClient(directory, found.clientId);
  if (found === undefined || client === undefined || !matchesRedirect(client, found.uri, audience))
    return signedOutPage();
  return { ...redirect(found.uri, { state: found.state }), cookies: [remove(issuer)] };
}

function write(issuer: string, value: Return): string | undefined {
  const text = Buffer.from(JSON.stringify(value)).toString('base64url');
  if (text.length > longestCookie) return undefined;
  return `${nameFor(issuer)}=${text}; ${attributesFor(issuer)}; Max-Age=${lifetimeSeconds}`;
}

function remove(issuer: string): string {
  return `${nameFor(issuer)}=; ${attributesFor(issuer)}; Max-Age=0`;
}

function read(issuer: string, request: Request, key: string): Return | undefined {
  for (const [name, text] of cookiesOf(request)) {
    if (name !== nameFor(issuer)) continue;
    try {
      const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
      if (Value.Check(Return, value) && matchesHash(key, hashSecret(value.key))) return value;
    } catch {} // Not a cookie of this service.
  }
  return undefined;
}

function nameFor(issuer: string): string {
  return `${issuer.startsWith('https:') ? '__Host-' : ''}flagmeter-signed-out`;
}

function attributesFor(issuer: string): string {
  return `Path=/; HttpOnly; SameSite=Lax${issuer.startsWith('https:') ? '; Secure' : ''}`;
}
