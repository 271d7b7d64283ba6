import { Refusal } from '../errors.ts';
import type { Reply, Request } from '../http/types.ts';
import { AuthorizationError, type AuthorizationRequest } from './authorization-request.ts';
import { type AuthorizeSettings, answerWithCode, formPage, notAMember, standingOf } from './authorize.ts';
import { type Browser, BrowserCookie, isFormToken, isFromElsewhere } from './browser.ts';
import { type Form, readForm } from './form.ts';
import { failurePage } from './pages/failure-page.ts';
import { type LoginError, loginPage, longestEmail } from './pages/login-page.ts';
import { type Credentials, type SignInResult, signIn } from './sign-in.ts';
import { currentSignIn } from './sign-ins.ts';

/** A form that came from a page of ours, made for the browser that sent it. */
interface Posted {
  readonly request: Request;
  readonly asked: AuthorizationRequest;
  readonly form: Form;
  readonly browser: Browser;
}

/**
 * Answers the form of a page, which is posted to the address of the request that the page is for.
 * @throws {AuthorizationError}
 * @throws {OAuthError} `invalid_request` when the form cannot be read
 */
export async function answerForm(
  settings: AuthorizeSettings,
  request: Request,
  asked: AuthorizationRequest,
): Promise<Reply> {
  const form = await readForm(request);
  if (isFromElsewhere(request, settings.issuer))
    return failurePage(403, 'The form was sent from the page of another site');
  const browser = new BrowserCookie(settings.issuer).read(request);
  if (browser === undefined || !isFormToken(browser, form.get('form') ?? ''))
    return loginPage(formPage(settings, request, asked), form.get('email') ?? '', staleForm);
  const posted = { request, asked, form, browser };
  switch (form.get('action')) {
    case 'cancel':
      throw new AuthorizationError('access_denied', 'The user does not want to sign in', asked);
    case 'switch':
      return loginPage(formPage(settings, request, asked), '');
    case 'continue':
      return answerContinue(settings, posted);
    default:
      return answerSignIn(settings, posted);
  }
}

const staleForm: LoginError = {
  status: 403,
  text: 'This page is out of date, or the browser keeps no cookies. Please sign in again.',
};

const unfinished: LoginError = {
  status: 400,
  text: 'Enter your e-mail address and your password.',
  typed: true,
};

/** Meanwhile the sign-in may be over. */
async function answerContinue(
  settings: AuthorizeSettings,
  { request, asked, browser }: Posted,
): Promise<Reply> {
  const standing = await standingOf(settings, asked, currentSignIn(settings, browser));
  if ('signIn' in standing) return answerWithCode(settings, asked, standing.signIn);
  return loginPage(formPage(settings, request, asked), asked.loginHint ?? '');
}

async function answerSignIn(settings: AuthorizeSettings, posted: Posted): Promise<Reply> {
  const { request, asked, form, browser } = posted;
  const email = (form.get('email') ?? '').trim();
  const password = form.get('password') ?? '';
  const again = (error: LoginError) => loginPage(formPage(settings, request, asked), email, error);
  if (email === '' || email.length > longestEmail || password === '') return again(unfinished);
  const credentials = { email, password, address: request.remoteAddress, browser };
  const result = await tryToSignIn(settings, credentials, asked);
  if ('status' in result) return again(result);
  if (result.outcome !== 'signed-in') return again(explain(result, email, asked));
  const reply = answerWithCode(settings, asked, result.signIn);
  const cookie = new BrowserCookie(settings.issuer).write(result.browser);
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie } };
}

/** When nobody can be signed in now, what was typed is still there for the next try. */
async function tryToSignIn(
  settings: AuthorizeSettings,
  credentials: Credentials,
  { client }: AuthorizationRequest,
): Promise<SignInResult | LoginError> {
  try {
    return await signIn(settings, credentials, client);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, retryAfter = 1 } = error;
    return { status, text: 'The service is busy. Please try again in a moment.', retryAfter };
  }
}

function explain(
  result: Exclude<SignInResult, { outcome: 'signed-in' }>,
  email: string,
  asked: AuthorizationRequest,
): LoginError {
  switch (result.outcome) {
    case 'wrong':
      return { status: 403, text: 'The e-mail address or the password is not right.', typed: true };
    case 'not-a-member':
      return notAMember(email, asked);
    case 'braked': {
      const text = `Too many attempts have failed. Try again in ${spanOf(result.wait)}.`;
      return { status: 429, text, retryAfter: result.wait };
    }
  }
}

/** A span of time for a person, rounded up. */
function spanOf(seconds: number): string {
  const [count, unit] = seconds < 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
