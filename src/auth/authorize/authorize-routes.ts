import type { Reply, Request } from '../../http/types.ts';
import { readForm } from '../clients/form.ts';
import { failurePage, refusalPage } from '../pages/failure-page.ts';
import { BrowserCookie } from '../sign-in/browser.ts';
import { pageEndpoints } from '../sign-in/page-endpoints.ts';
import { currentSignIn } from '../sign-in/sign-ins.ts';
import {
  AuthorizationError,
  type AuthorizationRequest,
  authorizationParameters,
  readAuthorizationRequest,
  UnknownReturnAddress,
} from './authorization-request.ts';
import { errorReply } from './authorization-response.ts';
import { type AuthorizeSettings, answerForm, answerRequest } from './authorize.ts';

/** A posted request is redirected to a `GET`, whose URL must fit into a request head. */
const longestQuery = 8192;

const access = { credential: 'None; the cookie of the sign-in page', who: 'Anyone with a browser' };

const answers = {
  200: 'The sign-in page, or a page that asks for confirmation.',
  303: 'To the redirect URI of the client, with a code or an error (RFC 6749 §4.1.2).',
  400: 'A page: the client or its redirect URI is unknown, or the request is invalid and the browser is not signed in.',
};

/** `GET` and `POST /connect/authorize` (RFC 6749 §3.1), and the pages behind it. */
export const authorizeEndpoints = pageEndpoints<AuthorizeSettings>('/connect/authorize', access, {
  GET: {
    operationId: 'authorize',
    summary: 'Sign in a user to a client',
    query: authorizationParameters,
    answers,
    bind: (settings) => (request) => answerPage(settings, request, answerRequest),
  },
  POST: {
    operationId: 'postAuthorization',
    summary: 'Sign in a user to a client, with the request as a form',
    description: 'With a query, the body is the form of the sign-in page.',
    form: authorizationParameters,
    answers: {
      ...answers,
      303: 'To the same request as a `GET`, or to the redirect URI of the client.',
      403: 'The page again: the form is not valid.',
      429: 'The page again: too many attempts have failed.',
      503: 'The page again: the service is busy.',
    },
    bind: (settings) => (request) =>
      request.query === ''
        ? sendOn(request).catch((error) => refuse(settings, error))
        : answerPage(settings, request, answerForm),
  },
});

async function answerPage(
  settings: AuthorizeSettings,
  request: Request,
  answer: (settings: AuthorizeSettings, request: Request, asked: AuthorizationRequest) => Promise<Reply>,
): Promise<Reply> {
  try {
    const asked = await readRequest(settings, request);
    return 'page' in asked ? asked.page : await answer(settings, request, asked);
  } catch (error) {
    return refuse(settings, error);
  }
}

/**
 * Reads the request. Errors are redirected only from a signed-in browser, or for `prompt=none`. Otherwise anyone who registers
 * a client could use a URL of this service as an open redirector (RFC 9700 §4.11.2).
 * @throws {AuthorizationError} an error to redirect
 * @throws {UnknownReturnAddress}
 */
async function readRequest(
  settings: AuthorizeSettings,
  request: Request,
): Promise<AuthorizationRequest | { readonly page: Reply }> {
  try {
    return readAuthorizationRequest(settings, request.query);
  } catch (error) {
    if (!(error instanceof AuthorizationError) || error.to.silent) throw error;
    const browser = new BrowserCookie(settings.issuer).read(request);
    if ((await currentSignIn(settings, browser)) !== undefined) throw error;
    return { page: failurePage(400, error.message) };
  }
}

/**
 * A client may post its request (OpenID Connect Core §3.1.2.1). A browser that comes from another site sends its cookie only
 * with a `GET`.
 */
async function sendOn(request: Request): Promise<Reply> {
  const location = `?${new URLSearchParams([...(await readForm(request))])}`;
  if (location.length > longestQuery) return failurePage(413, 'The request is too long');
  return { status: 303, headers: { location, 'cache-control': 'no-store' } };
}

function refuse({ issuer }: AuthorizeSettings, error: unknown): Reply {
  if (error instanceof AuthorizationError) return errorReply(error, issuer);
  if (error instanceof UnknownReturnAddress) return failurePage(400, error.message);
  return refusalPage(error);
}
