import Type from 'typebox';
import { text } from '../../../contract/shapes/fields.ts';
import { maxSignInAge } from '../../../contract/step-up.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import type { IdentityProvider } from '../../../storage/lmdb/auth-records.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import { type Browser, BrowserCookie, renewBrowser } from '../../cookies/browser.ts';
import { readAuthorizationRequest } from '../../oauth/authorization-request.ts';
import { parseForm } from '../../oauth/forms.ts';
import { type Attempt, attemptCookie, newBinding, pages } from '../../sso/attempt.ts';
import type { Hints } from '../../sso/provider-client.ts';
import { ProviderRefusal } from '../../sso/provider-refusal.ts';
import { buildProviderUrls } from '../../sso/providers.ts';
import type { SsoServices } from '../../sso/services.ts';
import { failurePage } from '../pages/failure-page.ts';
import { continueWithPage, providerFailurePage } from '../pages/provider-pages.ts';

export const startParameters = Type.Object({
  page: text(`The page that continues the sign-in: ${pages.join(', ')}.`),
  query: text('The query of that page.'),
});

/**
 * Redirects a browser to a provider. Anyone can start an attempt, so its state is in a cookie instead of in memory.
 * @throws {ProviderRefusal} as `ProviderClient.authorizationUrl`
 * @throws {AuthorizationError | UnknownReturnAddress | OAuthError} if the authorization request is not valid
 */
export async function startSso(
  services: SsoServices,
  request: Request,
  provider: IdentityProvider,
): Promise<HttpResponse> {
  const form = parseForm(request.query);
  const page = pages.find((each) => each === form.get('page')) ?? 'authorize';
  const query = form.get('query') ?? '';
  const { maxAge, ...hints } =
    page === 'authorize' ? readWishes(services, query) : { maxAge: maxSignInAge, ...noHints };
  const cookie = new BrowserCookie(services.issuer);
  const known = cookie.read(request);
  const browser = known ?? renewBrowser(undefined, services.randomBytes);
  const begun = await beginAttempt(services, browser, provider, { maxAge, page, query }, hints);
  if (begun === undefined) return failurePage(413, 'The request is too long');
  const headers = { location: begun.url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  return { status: 303, headers, cookies: [...(known ? [] : [cookie.write(browser)]), begun.cookie] };
}

/**
 * Begins an attempt. Anyone can begin a sign-in, but only a form for this browser can begin to link an account.
 * @returns the address at the provider, and `Set-Cookie`; `undefined` if the attempt is too long for a cookie
 * @throws {ProviderRefusal} as `ProviderClient.authorizationUrl`
 */
async function beginAttempt(
  services: SsoServices,
  browser: Browser,
  provider: IdentityProvider,
  wanted: Pick<Attempt, 'page' | 'query' | 'maxAge' | 'link' | 'linkTo'>,
  hints: Hints = noHints,
): Promise<{ readonly url: string; readonly cookie: string } | undefined> {
  const { issuer, clock, randomBytes, providerClient } = services;
  const attempt = { provider: provider.id, ...newBinding(randomBytes), ...wanted, startedAt: clock.now() };
  const cookie = attemptCookie(services).write(browser, attempt);
  if (cookie === undefined) return undefined;
  const { redirectUri } = buildProviderUrls(issuer, provider);
  const url = await providerClient.authorizationUrl(provider, { ...attempt, redirectUri }, hints);
  return { url: url.href, cookie };
}

/**
 * Leads the user of a form to a provider, to link an account of the provider. Only a form with a CSRF token can start
 * this, so that no other site can link an attacker's account.
 */
export async function leadToLink(
  services: SsoServices,
  browser: Browser,
  provider: IdentityProvider,
  { email }: Pick<User, 'email'>,
  wanted: Pick<Attempt, 'page' | 'link' | 'linkTo'>,
): Promise<HttpResponse> {
  try {
    const begun = await beginAttempt(services, browser, provider, { query: '', maxAge: null, ...wanted });
    if (begun === undefined) return failurePage(413, 'The request is too long');
    return continueWithPage(provider.name, email, begun.url, begun.cookie);
  } catch (error) {
    if (error instanceof ProviderRefusal) return providerFailurePage(provider.name, error, wanted.page);
    throw error;
  }
}

const noHints: Hints = { prompt: null, loginHint: null };

/** Reads a client's requirements for the sign-in, which are passed on to the provider. */
function readWishes(services: SsoServices, query: string): Hints & Pick<Attempt, 'maxAge'> {
  const { maxAge, prompt, loginHint } = readAuthorizationRequest(services, query);
  const passed = (['login', 'select_account'] as const).filter((word) => prompt.has(word));
  return { maxAge, prompt: passed.length > 0 ? passed.join(' ') : null, loginHint };
}

/** The address of the page that continues the sign-in, without the requirements that the provider has met. */
export function continuation({ page, query }: Pick<Attempt, 'page' | 'query'>): string {
  const parameters = new URLSearchParams(query);
  parameters.delete('max_age');
  const prompt = (parameters.get('prompt') ?? '').split(' ').filter((word) => word === 'consent');
  if (prompt.length > 0) parameters.set('prompt', prompt.join(' '));
  else parameters.delete('prompt');
  return `../../${page}?${parameters}`;
}
