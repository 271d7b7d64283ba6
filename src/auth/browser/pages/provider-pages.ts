import { type ProviderRefusalCode, providerRefusals } from '../../../contract/provider-refusals.ts';
import type { HttpResponse } from '../../../http/types.ts';
import { type FormPage, formResponse } from './form-page.ts';
import { type Html, html } from './html.ts';
import { pageResponse } from './page.ts';

/** Codes of temporary refusals, after which a new attempt might succeed. */
const passing: ReadonlySet<ProviderRefusalCode> = new Set([
  ...(['provider_unreachable', 'denied_by_provider', 'token_expired', 'authenticated_too_long_ago'] as const),
]);

/**
 * The page for a refused sign-in with a provider.
 * @param again the address that starts a new attempt
 */
export function providerFailurePage(
  name: string,
  { code }: { readonly code: ProviderRefusalCode },
  again: string,
): HttpResponse {
  const hint = passing.has(code)
    ? html`<p>Try again in a moment, or go back and sign in another way.</p>`
    : html`<p>Contact the administrator of this service.</p>`;
  return pageResponse({
    status: code === 'provider_unreachable' ? 503 : 403,
    title: 'Sign-in is not possible',
    ...(code === 'provider_unreachable' && { retryAfter: 5 }),
    content: html`<h1>Sign-in with ${name} is not possible</h1>
<p class="error">${providerRefusals[code]}</p>
${hint}
<p class="note">Reason: <code>${code}</code></p>
<p><a class="button" href="${again}">Try again with ${name}</a></p>`,
  });
}

/** The page for a provider's response that this browser did not request, or that arrived too late. */
export function staleAttemptPage(): HttpResponse {
  return pageResponse({
    status: 400,
    title: 'Sign-in is not possible',
    content: html`<h1>This sign-in has expired</h1>
<p>It was started in another browser, started more than ten minutes ago, or has already finished. Go back to the app that sent you here,
and try again.</p>`,
  });
}

/** A provider with which the users of an e-mail domain must sign in. */
export interface Lead {
  readonly domain: string;
  /** The name of the provider. */
  readonly name: string;
  readonly address: string;
}

/** The page that leads the users of a domain to their provider. */
export function leadPage({ name, domain, address }: Lead): HttpResponse {
  return continueWith(name, address, html`Users of <strong>${domain}</strong> sign in with ${name}.`);
}

/** The page that leads a user to a provider, to link an account there. @param cookie the cookie of the attempt */
export function continueWithPage(name: string, email: string, address: string, cookie: string): HttpResponse {
  const task = html`<strong>${email}</strong> will sign in with ${name} from now on.`;
  return continueWith(name, address, task, cookie);
}

/**
 * A page with a hyperlink to a provider. The page has no form, because the CSP `form-action` could block the redirect.
 */
function continueWith(name: string, address: string, task: Html, cookie?: string): HttpResponse {
  const title = `Continue with ${name}`;
  return pageResponse({
    status: 200,
    title,
    refresh: address,
    cookie,
    content: html`<h1>${title}</h1>
<p>${task}</p>
<p><a class="button" href="${address}">${title}</a></p>`,
  });
}

export function unknownProviderPage(): HttpResponse {
  return pageResponse({
    status: 404,
    title: 'Sign-in is not possible',
    content: html`<h1>Sign-in is not possible</h1>
<p>There is no such identity provider, or it is disabled. Go back to the app that sent you here, and try again.</p>`,
  });
}

export function linkAccountPage(
  page: FormPage,
  { email }: { readonly email: string },
  providers: readonly { readonly id: string; readonly name: string }[],
): HttpResponse {
  const task =
    providers.length === 0
      ? html`No further identity provider is available for <strong>${email}</strong>.`
      : html`Choose an identity provider. <strong>${email}</strong> can then sign in with it, too.`;
  const buttons = providers.map(
    ({ id, name }) => html`<button name="provider" value="${id}">Link an account at ${name}</button>`,
  );
  return formResponse(page, {
    title: 'Link an account',
    intro: html`<p>${task}</p>`,
    form: html`<input type="hidden" name="action" value="link">
${buttons}`,
    more: html`<p><a class="button" href="${page.redirectUri ?? ''}">Back</a></p>`,
  });
}
