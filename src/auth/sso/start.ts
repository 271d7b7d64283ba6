import Type from 'typebox';
import { text } from '../../contract/shapes/fields.ts';
import { maxSignInAge } from '../../contract/step-up.ts';
import type { Reply, Request } from '../../http/types.ts';
import type { IdentityProvider } from '../../storage/lmdb/provider-records.ts';
import { readAuthorizationRequest } from '../authorize/authorization-request.ts';
import { parseForm } from '../clients/form.ts';
import { failurePage } from '../pages/failure-page.ts';
import { type Attempt, AttemptCookie, type AttemptPage, newBinding, pages } from './attempt.ts';
import type { Hints } from './provider-client.ts';
import { urlsOf } from './providers.ts';
import type { SsoSettings } from './sso-settings.ts';

export const startParameters = Type.Object({
  page: text(`The page that continues: ${pages.join(', ')}.`),
  query: text('Its query.'),
});

/** The address that starts a sign-in with a provider, relative to the pages of the auth host. */
export function startLink({ id }: Pick<IdentityProvider, 'id'>, page: AttemptPage, query: string): string {
  return `providers/${encodeURIComponent(id)}/start?${new URLSearchParams({ page, query })}`;
}

/**
 * Sends a browser to a provider. Anyone may cause this. The state of the attempt is in a cookie, so it takes no room here.
 * @throws {ProviderRefusal} as `ProviderClient.authorizationUrl`
 * @throws {AuthorizationError | UnknownReturnAddress | OAuthError} for a request that cannot continue
 */
export async function startSso(
  settings: SsoSettings,
  request: Request,
  provider: IdentityProvider,
): Promise<Reply> {
  const form = parseForm(request.query);
  const page = pages.find((each) => each === form.get('page')) ?? 'authorize';
  const query = form.get('query') ?? '';
  const { maxAge, ...hints } = page === 'authorize' ? wishesOf(settings, query) : wishesOfPage(page);
  const begun = await beginAttempt(settings, provider, { maxAge, page, query }, hints);
  if (begun === undefined) return failurePage(413, 'The request is too long');
  const headers = { location: begun.url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  return { status: 303, headers, cookies: [begun.cookie] };
}

/**
 * Begins an attempt. Anyone can begin a sign-in, but only the form of a signed-in user a link.
 * @returns the address at the provider, and `Set-Cookie`; `undefined` if the attempt is too long for a cookie
 * @throws {ProviderRefusal} as `ProviderClient.authorizationUrl`
 */
export async function beginAttempt(
  { issuer, clock, randomBytes, providerClient }: SsoSettings,
  provider: IdentityProvider,
  wanted: Pick<Attempt, 'page' | 'query' | 'maxAge' | 'linkTo'>,
  hints: Hints = { prompt: null, loginHint: null },
): Promise<{ readonly url: string; readonly cookie: string } | undefined> {
  const attempt = { provider: provider.id, ...newBinding(randomBytes), ...wanted, startedAt: clock.now() };
  const cookie = new AttemptCookie(issuer).write(attempt);
  if (cookie === undefined) return undefined;
  const { redirectUri } = urlsOf(issuer, provider);
  const url = await providerClient.authorizationUrl(provider, { ...attempt, redirectUri }, hints);
  return { url: url.href, cookie };
}

type Wishes = Hints & Pick<Attempt, 'maxAge'>;

/** What a page wishes of the sign-in. A link of an invitation needs no recent one. */
function wishesOfPage(page: AttemptPage): Wishes {
  return { maxAge: page === 'invitation' ? null : maxSignInAge, prompt: null, loginHint: null };
}

/** What a client wishes of the sign-in, which the provider is asked for. */
function wishesOf(settings: SsoSettings, query: string): Wishes {
  const { maxAge, prompt, loginHint } = readAuthorizationRequest(settings, query);
  const passed = (['login', 'select_account'] as const).filter((word) => prompt.has(word));
  return { maxAge, prompt: passed.length > 0 ? passed.join(' ') : null, loginHint };
}

/** The address of the page that continues, relative to the callback. The provider has already been asked for what is removed. */
export function continuation({ page, query }: Pick<Attempt, 'page' | 'query'>): string {
  const parameters = new URLSearchParams(query);
  parameters.delete('max_age');
  const prompt = (parameters.get('prompt') ?? '').split(' ').filter((word) => word === 'consent');
  if (prompt.length > 0) parameters.set('prompt', prompt.join(' '));
  else parameters.delete('prompt');
  return `../../${page}?${parameters}`;
}
