import { readSignInPolicy } from '../../../accounts/sign-in-policy.ts';
import { Refusal } from '../../../contract/errors.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import type { OAuthClient } from '../../../storage/lmdb/records.ts';
import { type Browser, BrowserCookie, isFormToken, isFromElsewhere, renewBrowser } from '../../cookies/browser.ts';
import { passkeyPages } from '../../factors/passkeys/options.ts';
import type { SignInServices } from '../../factors/sign-in.ts';
import { consoleClientId, type Form } from '../../oauth/clients.ts';
import { readForm } from '../../oauth/forms.ts';
import type { CurrentSignIn } from '../../oauth/sign-ins.ts';
import { type AttemptPage, pages, startLink } from '../../sso/attempt.ts';
import type { SsoServices } from '../../sso/services.ts';
import { failurePage } from '../pages/failure-page.ts';
import type { FormError, FormPage } from '../pages/form-page.ts';
import { loginPage } from '../pages/sign-in-pages.ts';

/** Services of the pages of the auth host. */
export interface PageServices extends SignInServices, SsoServices {}

export interface FormPurpose {
  readonly client: OAuthClient;
  /** The address to which the browser returns; `null` if the browser stays on our pages. */
  readonly redirectUri: string | null;
}

/** A posted form whose CSRF token belongs to the browser. */
export interface PostedForm {
  readonly request: Request;
  readonly purpose: FormPurpose;
  readonly form: Form;
  readonly browser: Browser;
}

export const staleForm: FormError = {
  status: 403,
  text: 'This page is out of date, or the browser rejects cookies. Please sign in again.',
};

/** The content of a page with a form. A browser without a cookie gets a new cookie. */
export function formPage(services: PageServices, request: Request, { client, redirectUri }: FormPurpose): FormPage {
  const { issuer, randomBytes } = services;
  const cookie = new BrowserCookie(issuer);
  const known: Browser | undefined = cookie.read(request);
  const browser = known ?? renewBrowser(undefined, randomBytes);
  return {
    clientName: client.name,
    redirectUri,
    isConsole: client.clientId === consoleClientId,
    providers: services.providers.enabled().map((provider) => {
      return { name: provider.name, address: startLink(provider, findPage(request), request.query) };
    }),
    leadsByEmail: readSignInPolicy(services.accountStore).domains.length > 0,
    browser,
    cookie: known === undefined ? cookie.write(browser) : undefined,
    passkeys: passkeyPages(services),
  };
}

/** Returns the page of a request. The browser returns to this page from an identity provider. */
export function findPage({ path }: Request): AttemptPage {
  return pages.find((page) => path.endsWith(`/${page}`)) ?? 'authorize';
}

/**
 * Reads a form posted to a page. Returns an error page instead if its CSRF token belongs to another browser.
 * @param stale creates the error page; by default, the sign-in page with an error
 * @throws {OAuthError} `invalid_request` if the form cannot be read
 */
export async function readPostedForm(
  services: PageServices,
  request: Request,
  purpose: FormPurpose,
  stale = (form: Form) => loginPage(formPage(services, request, purpose), form.get('email') ?? '', staleForm),
): Promise<PostedForm | { readonly response: HttpResponse }> {
  const form = await readForm(request);
  if (isFromElsewhere(request, services.issuer))
    return { response: failurePage(403, 'The form was sent by another site') };
  const browser = new BrowserCookie(services.issuer).read(request);
  if (browser === undefined || !isFormToken(browser, form.get('form') ?? '')) return { response: stale(form) };
  return { request, purpose, form, browser };
}

/** The result of a form: a user who can continue, or the page to show first. The response sets `cookie`. */
export type FormResult =
  | { readonly signIn: CurrentSignIn; readonly browser: Browser; readonly cookie: string }
  | { readonly response: HttpResponse };

/** Returns the sign-in page again, with an error. */
export function signInAgain(
  services: PageServices,
  { request, purpose }: PostedForm,
  error: FormError,
  email = '',
): { readonly response: HttpResponse } {
  return { response: loginPage(formPage(services, request, purpose), email, error) };
}

/** Returns the form error for a busy service. @throws any error that is not a refusal */
export function busy(error: unknown): FormError {
  if (!(error instanceof Refusal)) throw error;
  const { status, retryAfter = 1 } = error;
  return { status, text: 'The service is busy. Please try again in a moment.', retryAfter };
}

/** The error for a user who is not allowed to use a client. */
export function notAMember(email: string, { client }: FormPurpose): FormError {
  const text = `${email} is not a member of the team that ${client.name} belongs to. Use another account.`;
  return { status: 403, text };
}

/** The error after too many attempts. @param wait seconds */
export function throttled(wait: number): FormError {
  const text = `Too many attempts have failed. Try again in ${formatSpan(wait)}.`;
  return { status: 429, text, retryAfter: wait };
}

function formatSpan(seconds: number): string {
  const [count, unit] = seconds < 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
