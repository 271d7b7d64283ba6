import { commonPassword } from '../accounts/password-rules.ts';
import { hasTemporaryPassword } from '../accounts/passwords.ts';
import { ApiError } from '../contract/errors.ts';
import type { Reply, Request } from '../http/types.ts';
import type { OAuthClient } from '../storage/lmdb/records.ts';
import { type Browser, BrowserCookie, isFormToken, isFromElsewhere, renewBrowser } from './browser.ts';
import { userAgentOf } from './draft-sign-in.ts';
import { type Form, readForm } from './form.ts';
import { replacePassword } from './new-password.ts';
import { failurePage } from './pages/failure-page.ts';
import type { FormError, FormPage } from './pages/form-page.ts';
import { loginPage, longestEmail, newPasswordPage } from './pages/sign-in-pages.ts';
import type { PasskeyFailure, PasskeySettings } from './passkeys/accept-passkey.ts';
import { passkeyPages } from './passkeys/options.ts';
import { signInByPasskey } from './passkeys/sign-in.ts';
import { type SignInResult, signIn } from './sign-in.ts';
import type { CurrentSignIn } from './sign-ins.ts';

export type FormSettings = PasskeySettings;

export interface FormPurpose {
  readonly client: OAuthClient;
  /** Where the answer is sent; `null` if it stays here. */
  readonly redirectUri: string | null;
}

/** A form from one of our pages, made for the browser that sent it. */
export interface PostedForm {
  readonly request: Request;
  readonly purpose: FormPurpose;
  readonly form: Form;
  readonly browser: Browser;
}

const staleForm: FormError = {
  status: 403,
  text: 'This page is out of date, or the browser rejects cookies. Please sign in again.',
};

const unfinished: FormError = {
  status: 400,
  text: 'Enter your e-mail address and your password.',
  typed: true,
};

/** The content of a page with a form. A browser without a cookie gets one. */
export function formPage(
  settings: FormSettings,
  request: Request,
  { client, redirectUri }: FormPurpose,
): FormPage {
  const { issuer, randomBytes } = settings;
  const cookie = new BrowserCookie(issuer);
  const known: Browser | undefined = cookie.read(request);
  const browser = known ?? renewBrowser(undefined, randomBytes);
  return {
    clientName: client.name,
    redirectUri,
    browser,
    cookie: known === undefined ? cookie.write(browser) : undefined,
    passkeys: passkeyPages(settings),
  };
}

/**
 * Reads a form posted to a page. Returns an error page instead if the form was not made for the browser that sent it.
 * @throws {OAuthError} `invalid_request` if it cannot be read
 */
export async function readPostedForm(
  settings: FormSettings,
  request: Request,
  purpose: FormPurpose,
): Promise<PostedForm | { readonly reply: Reply }> {
  const form = await readForm(request);
  if (isFromElsewhere(request, settings.issuer))
    return { reply: failurePage(403, 'The form was sent by another site') };
  const browser = new BrowserCookie(settings.issuer).read(request);
  if (browser === undefined || !isFormToken(browser, form.get('form') ?? ''))
    return {
      reply: loginPage(formPage(settings, request, purpose), form.get('email') ?? '', staleForm),
    };
  return { request, purpose, form, browser };
}

/** A user who may continue, or the page that comes first. `cookie` is set with the answer. */
export type FormResult =
  | { readonly signIn: CurrentSignIn; readonly browser: Browser; readonly cookie: string }
  | { readonly reply: Reply };

/**
 * Signs a user in with the typed credentials, or shows the page again with an error. A user with a temporary password gets the
 * page for a new one. That page posts its form here, too.
 */
export function signInByForm(settings: FormSettings, posted: PostedForm): Promise<FormResult> {
  switch (posted.form.get('action')) {
    case 'new-password':
      return changeByForm(settings, posted);
    case 'passkey':
      return enterByPasskey(settings, posted);
    default:
      return enterByForm(settings, posted);
  }
}

async function enterByForm(
  settings: FormSettings,
  { request, purpose, form, browser }: PostedForm,
): Promise<FormResult> {
  const email = (form.get('email') ?? '').trim();
  const password = form.get('password') ?? '';
  const again = (error: FormError) => ({
    reply: loginPage(formPage(settings, request, purpose), email, error),
  });
  if (email === '' || email.length > longestEmail || password === '') return again(unfinished);
  const credentials = {
    email,
    password,
    address: request.remoteAddress,
    browser,
    userAgent: userAgentOf(request),
  };
  try {
    const result = await signIn(settings, credentials, purpose.client);
    if (result.outcome !== 'signed-in') return again(explain(result, email, purpose));
    return resultOf(settings, { request, purpose }, result);
  } catch (error) {
    return again(busy(error)); // The typed values are kept for the next attempt.
  }
}

async function enterByPasskey(settings: FormSettings, posted: PostedForm): Promise<FormResult> {
  const { request, purpose } = posted;
  const again = (error: FormError) => ({ reply: loginPage(formPage(settings, request, purpose), '', error) });
  try {
    const result = await signInByPasskey(settings, posted, purpose.client);
    if (result.outcome === 'signed-in') return resultOf(settings, posted, result);
    if (result.outcome === 'not-a-member') return again(notAMember(result.email, purpose));
    return again(explainPasskey(result));
  } catch (error) {
    return again(busy(error));
  }
}

/** The result of a sign-in: its user may continue, or must choose a password first. */
function resultOf(
  settings: FormSettings,
  { request, purpose }: Pick<PostedForm, 'request' | 'purpose'>,
  signedIn: { readonly signIn: CurrentSignIn; readonly browser: Browser },
): FormResult {
  const { user } = signedIn.signIn;
  const entered = enteredAs(settings, signedIn);
  if (!hasTemporaryPassword(user)) return entered;
  return { reply: newPasswordPage({ ...formPage(settings, request, purpose), ...entered }, user.email) };
}

async function changeByForm(
  settings: FormSettings,
  { request, purpose, form, browser }: PostedForm,
): Promise<FormResult> {
  const page = formPage(settings, request, purpose);
  const password = form.get('password') ?? '';
  const again = form.get('again') ?? '';
  const email = form.get('email') ?? '';
  try {
    const typed = { password, again, address: request.remoteAddress, browser };
    const result = await replacePassword(settings, typed, purpose.client);
    switch (result.outcome) {
      case 'signed-in':
        return enteredAs(settings, result);
      case 'refused': {
        const fault = { status: 400, text: result.fault, typed: true };
        return { reply: newPasswordPage(page, result.user.email, fault) };
      }
      case 'not-a-member':
        return { reply: loginPage(page, '', notAMember(result.user.email, purpose)) };
      case 'over':
        return { reply: loginPage(page, email, staleForm) };
    }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_body') {
      const fault = { status: 400, text: `The password ${commonPassword}.`, typed: true };
      return { reply: newPasswordPage(page, email, fault) };
    }
    return { reply: newPasswordPage(page, email, busy(error)) };
  }
}

function enteredAs(
  { issuer }: FormSettings,
  { signIn, browser }: { readonly signIn: CurrentSignIn; readonly browser: Browser },
) {
  return { signIn, browser, cookie: new BrowserCookie(issuer).write(browser) };
}

/** @throws any error that is not a refusal */
function busy(error: unknown): FormError {
  if (!(error instanceof ApiError)) throw error;
  const { status, retryAfter = 1 } = error;
  return { status, text: 'The service is busy. Please try again in a moment.', retryAfter };
}

/** The error for a user who may not use a client. */
export function notAMember(email: string, { client }: FormPurpose): FormError {
  const text = `${email} is not a member of the team that ${client.name} belongs to. Use another account.`;
  return { status: 403, text };
}

function explain(
  result: Exclude<SignInResult, { outcome: 'signed-in' }>,
  email: string,
  purpose: FormPurpose,
): FormError {
  switch (result.outcome) {
    case 'wrong':
      return { status: 403, text: 'The e-mail address or the password is wrong.', typed: true };
    case 'not-a-member':
      return notAMember(email, purpose);
    case 'throttled':
      return throttled(result.wait);
  }
}

function explainPasskey(failure: PasskeyFailure): FormError {
  return failure.outcome === 'throttled'
    ? throttled(failure.wait)
    : { status: 403, text: passkeyFaults[failure.outcome] };
}

const passkeyFaults = {
  wrong: 'This passkey is unknown here, or was removed. Use another passkey, or your password.',
  stale: 'This page is out of date. Use the passkey again.',
  cloned:
    'This passkey is refused, because a copy of it may be in use. Sign in another way, and remove the passkey.',
} as const;

function throttled(wait: number): FormError {
  const text = `Too many attempts have failed. Try again in ${spanOf(wait)}.`;
  return { status: 429, text, retryAfter: wait };
}

/** A duration for people, rounded up. */
function spanOf(seconds: number): string {
  const [count, unit] = seconds < 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
