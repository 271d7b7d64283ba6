/*
 * src/auth/browser: the pages of the auth host. authorize.ts decides the next page of an authorization request, or
 * issues a code. The folder pages has the HTML, and the folder forms reads posted forms. account-pages.ts has the pages
 * on which users change the way they sign in. The folder sso redirects to identity providers.
 */
import { isOfKnownReceiver } from '../../accounts/clients.ts';
import { Refusal } from '../../contract/errors.ts';
import type { HttpResponse, Request } from '../../http/types.ts';
import { BrowserCookie } from '../cookies/browser.ts';
import { hasJustEnrolled } from '../factors/second-factor.ts';
import {
  AuthorizationError,
  type AuthorizationErrorCode,
  type AuthorizationRequest,
  authorizationParameters,
  codeResponse,
  errorResponse,
  readAuthorizationRequest,
  UnknownReturnAddress,
} from '../oauth/authorization-request.ts';
import { maySignIn } from '../oauth/clients.ts';
import { issueCode } from '../oauth/codes.ts';
import { readForm } from '../oauth/forms.ts';
import { type CurrentSignIn, currentSignIn } from '../oauth/sign-ins.ts';
import { readIdTokenHint } from '../oauth/tokens.ts';
import { pageEndpoints } from './forms/page-endpoints.ts';
import { formPage, notAMember, type PageServices, type PostedForm, readPostedForm } from './forms/posted-form.ts';
import { stepPage } from './forms/second-factor-form.ts';
import { signInByForm } from './forms/sign-in-form.ts';
import { failurePage, refusalPage } from './pages/failure-page.ts';
import { confirmPage, loginPage } from './pages/sign-in-pages.ts';

/** Maximum length of a posted request, characters. A longer request would not fit into the URL of its redirect. */
const longestQuery = 8192;

const access = { credential: 'No credentials, or the cookie of the sign-in page', who: 'Anyone with a browser' };

const responses = {
  200: 'The sign-in page, or a page that asks for confirmation.',
  303: 'Redirect to the client, with a code or an error (RFC 6749 §4.1.2).',
  400: 'An error page: the client or its redirect URI is unknown, or the request is invalid and the browser is not signed in.',
};

/** `GET` and `POST /connect/authorize` (RFC 6749 §3.1), and the pages of the sign-in. */
export const authorizeEndpoints = pageEndpoints<PageServices>('/connect/authorize', access, {
  GET: {
    operationId: 'authorize',
    summary: 'Sign in a user to a client',
    query: authorizationParameters,
    responses,
    bind: (services) => (request) => servePage(services, request, handleRequest),
  },
  POST: {
    operationId: 'postAuthorization',
    summary: 'Sign in a user to a client, with the request as a form',
    description: 'With a query, the body is the form of the sign-in page.',
    form: authorizationParameters,
    responses: {
      ...responses,
      303: 'Redirect to the same request as a `GET`, or to the client.',
      403: 'The page is shown again: the form is not valid.',
      429: 'The page is shown again: too many attempts have failed.',
      503: 'The page is shown again: the service is busy.',
    },
    bind: (services) => (request) =>
      request.query === ''
        ? sendOn(request).catch((error) => refuse(services, error))
        : servePage(services, request, handleForm),
  },
});

async function servePage(
  services: PageServices,
  request: Request,
  handle: (services: PageServices, request: Request, asked: AuthorizationRequest) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    const asked = await readRequest(services, request);
    return 'page' in asked ? asked.page : await handle(services, request, asked);
  } catch (error) {
    return refuse(services, error);
  }
}

/**
 * Reads an authorization request. An error is sent to the client only if the browser is signed in, or for
 * `prompt=none`. Otherwise any registered client could use this service as an open redirector (RFC 9700 §4.11.2).
 * @throws {AuthorizationError} an error to send to the client
 * @throws {UnknownReturnAddress}
 */
async function readRequest(
  services: PageServices,
  request: Request,
): Promise<AuthorizationRequest | { readonly page: HttpResponse }> {
  try {
    return readAuthorizationRequest(services, request.query);
  } catch (error) {
    if (!(error instanceof AuthorizationError) || error.to.silent) throw error;
    const browser = new BrowserCookie(services.issuer).read(request);
    if ((await currentSignIn(services, browser)) !== undefined) throw error;
    return { page: failurePage(400, error.message) };
  }
}

/**
 * Redirects a posted request to a `GET`. Clients may post (OpenID Connect Core §3.1.2.1), but a browser that comes from
 * another site sends its cookie only with a `GET`.
 */
async function sendOn(request: Request): Promise<HttpResponse> {
  const location = `?${new URLSearchParams([...(await readForm(request))])}`;
  if (location.length > longestQuery) return failurePage(413, 'The request is too long');
  return { status: 303, headers: { location, 'cache-control': 'no-store' } };
}

function refuse({ issuer }: PageServices, error: unknown): HttpResponse {
  if (error instanceof AuthorizationError) return errorResponse(error, issuer);
  if (error instanceof UnknownReturnAddress) return failurePage(400, error.message);
  return refusalPage(error);
}

/**
 * Handles an authorization request (OpenID Connect Core §3.1.2). Responds with a code if the sign-in of the browser is
 * sufficient, otherwise with the next page. For `prompt=none`, throws an error instead of showing a page.
 * @throws {AuthorizationError}
 */
async function handleRequest(
  services: PageServices,
  request: Request,
  asked: AuthorizationRequest,
): Promise<HttpResponse> {
  const browser = new BrowserCookie(services.issuer).read(request);
  const signIn = await currentSignIn(services, browser);
  const step = await findNextStep(services, asked, signIn);
  if (asked.prompt.has('none')) return respondSilently(services, asked, step);
  const page = formPage(services, request, asked);
  switch (step.next) {
    case 'code':
      return redirectWithCode(services, asked, step.signIn);
    case 'confirm':
      return confirmPage(page, step.signIn.user.email);
    case 'step':
      return stepPage(services, page, step.signIn);
    case 'sign-in':
      return loginPage(page, asked.loginHint ?? signIn?.user.email ?? '');
    case 'other-account':
      return loginPage(page, asked.loginHint ?? '', notAMember(signIn?.user.email ?? '', asked));
  }
}

/** The response to a request: a code, or the page for a confirmation, a missing factor, or a new sign-in. */
type NextStep =
  | { readonly next: 'code' | 'confirm' | 'step'; readonly signIn: CurrentSignIn }
  | { readonly next: 'sign-in' | 'other-account' };

async function findNextStep(
  services: PageServices,
  asked: AuthorizationRequest,
  signIn: CurrentSignIn | undefined,
): Promise<NextStep> {
  const { client, prompt, redirectUri } = asked;
  if (signIn === undefined || prompt.has('login') || isTooOld(services, asked, signIn)) return { next: 'sign-in' };
  if (asked.idTokenHint !== null && (await meantUser(services, asked)) !== signIn.user.id) return { next: 'sign-in' };
  if (!maySignIn(signIn.user, client)) return { next: 'other-account' };
  if (signIn.missing !== undefined) return { next: 'step', signIn };
  const isKnown = isOfKnownReceiver(redirectUri) || redirectUri.startsWith(`${services.audience}/`);
  const isQuestion = prompt.has('consent') || prompt.has('select_account');
  // An unknown program can receive the redirect, so the user must confirm (RFC 8252 §8.6).
  return { next: isKnown && !isQuestion ? 'code' : 'confirm', signIn };
}

/** @throws {AuthorizationError} `login_required`, `interaction_required` (OpenID Connect Core §3.1.2.6) */
function respondSilently(services: PageServices, asked: AuthorizationRequest, step: NextStep): Promise<HttpResponse> {
  const refuse = (code: AuthorizationErrorCode, description: string): never => {
    throw new AuthorizationError(code, description, asked);
  };
  switch (step.next) {
    case 'code':
      return redirectWithCode(services, asked, step.signIn);
    case 'confirm':
      return refuse('interaction_required', 'The user must confirm a redirect URI that is not https');
    case 'step':
      return refuse('interaction_required', 'The user must complete the sign-in');
    default:
      return refuse('login_required', 'The user must sign in');
  }
}

/** Issues the code, and redirects to the client. @throws {AuthorizationError} `temporarily_unavailable` */
async function redirectWithCode(
  services: PageServices,
  asked: AuthorizationRequest,
  { key: signIn, user, authTime, authentication }: CurrentSignIn,
): Promise<HttpResponse> {
  const { client, redirectUri, challenge, scope, nonce } = asked;
  const granted = {
    clientId: client.clientId,
    redirectUri,
    challenge,
    userId: user.id,
    signIn,
    scope,
    nonce,
    authTime,
    authentication,
  };
  try {
    return codeResponse(asked, await issueCode(services, granted), services.issuer);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new AuthorizationError('temporarily_unavailable', 'The service cannot store the code now', asked);
  }
}

function isTooOld({ clock }: PageServices, { maxAge }: AuthorizationRequest, { authTime }: CurrentSignIn): boolean {
  return maxAge !== null && (maxAge === 0 || clock.now() / 1000 - authTime > maxAge);
}

/** The id of the user in a client's `id_token_hint`; `undefined` if the hint is missing or not valid. */
async function meantUser(services: PageServices, { idTokenHint }: AuthorizationRequest): Promise<string | undefined> {
  return idTokenHint === null ? undefined : (await readIdTokenHint(services, idTokenHint))?.sub;
}

/**
 * Handles the form of a page, which is posted to the address of the authorization request.
 * @throws {AuthorizationError}
 * @throws {OAuthError} `invalid_request` if the form cannot be read
 */
async function handleForm(
  services: PageServices,
  request: Request,
  asked: AuthorizationRequest,
): Promise<HttpResponse> {
  const posted = await readPostedForm(services, request, asked);
  if ('response' in posted) return posted.response;
  switch (posted.form.get('action')) {
    case 'cancel':
      throw new AuthorizationError('access_denied', 'The user cancelled the sign-in', asked);
    case 'switch':
      return loginPage(formPage(services, request, asked), '');
    case 'continue':
      return handleContinue(services, posted, asked);
    case 'enrolled':
      return handleEnrolled(services, posted, asked);
    default:
      return handleSignIn(services, posted, asked);
  }
}

/** Continues a sign-in, which might have ended since the page was shown. */
async function handleContinue(
  services: PageServices,
  { request, browser }: PostedForm,
  asked: AuthorizationRequest,
): Promise<HttpResponse> {
  const step = await findNextStep(services, asked, await currentSignIn(services, browser));
  if (step.next === 'step') return stepPage(services, formPage(services, request, asked), step.signIn);
  if ('signIn' in step) return redirectWithCode(services, asked, step.signIn);
  return loginPage(formPage(services, request, asked), asked.loginHint ?? '');
}

async function handleSignIn(
  services: PageServices,
  posted: PostedForm,
  asked: AuthorizationRequest,
): Promise<HttpResponse> {
  const result = await signInByForm(services, posted);
  if ('response' in result) return result.response;
  const response = await redirectSignedIn(services, asked, result.signIn);
  return { ...response, headers: { ...response.headers, 'set-cookie': result.cookie } };
}

/** Continues after the user has saved the recovery codes. Repeats no sign-in, even if the request demands a new one. */
async function handleEnrolled(
  services: PageServices,
  posted: PostedForm,
  asked: AuthorizationRequest,
): Promise<HttpResponse> {
  const signIn = await currentSignIn(services, posted.browser);
  if (signIn === undefined || !hasJustEnrolled(services, signIn) || !maySignIn(signIn.user, asked.client))
    return handleContinue(services, posted, asked);
  return redirectSignedIn(services, asked, signIn);
}

async function redirectSignedIn(
  services: PageServices,
  asked: AuthorizationRequest,
  signIn: CurrentSignIn,
): Promise<HttpResponse> {
  const meant = await meantUser(services, asked);
  if (meant === undefined || meant === signIn.user.id) return redirectWithCode(services, asked, signIn);
  // The client requested the user of its id_token_hint and no other (OpenID Connect Core §3.1.2.1).
  const refusal = new AuthorizationError(
    'login_required',
    'The signed-in user is not the user in id_token_hint',
    asked,
  );
  return errorResponse(refusal, services.issuer);
}
