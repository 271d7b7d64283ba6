import { ApiError } from '../errors.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import {
  AuthorizationError,
  type AuthorizationRequest,
  readAuthorizationRequest,
  UnknownReturnAddress,
} from './authorization-request.ts';
import { errorReply } from './authorization-response.ts';
import { type AuthorizeSettings, answerRequest } from './authorize.ts';
import { answerForm } from './authorize-form.ts';
import { readForm } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import { failurePage } from './pages/failure-page.ts';

const path = '/connect/authorize';

/** A request that was posted is sent on as an address, which has to fit into the head of a request. */
const longestQuery = 8192;

/** `GET` and `POST /connect/authorize` (RFC 6749 §3.1), and the pages behind it. */
export function authorizeRoutes(settings: AuthorizeSettings): readonly Route[] {
  type Answer = (
    settings: AuthorizeSettings,
    request: Request,
    asked: AuthorizationRequest,
  ) => Promise<Reply>;
  const handle = (answer: Answer) => async (request: Request) => {
    try {
      if (request.method === 'POST' && request.query === '') return await sendOn(request);
      return await answer(settings, request, readAuthorizationRequest(settings, request.query));
    } catch (error) {
      return refuse(settings, error);
    }
  };
  return [
    { method: 'GET', path, handle: handle(answerRequest) },
    { method: 'POST', path, handle: handle(answerForm) },
  ];
}

/**
 * A client may post its request (OpenID Connect Core §3.1.2.1), but a browser brings its cookie only to what it gets from
 * another site.
 */
async function sendOn(request: Request): Promise<Reply> {
  const location = `?${new URLSearchParams([...(await readForm(request))])}`;
  if (location.length > longestQuery) return failurePage(413, 'The request is too long');
  return { status: 303, headers: { location, 'cache-control': 'no-store' } };
}

function refuse({ issuer }: AuthorizeSettings, error: unknown): Reply {
  if (error instanceof AuthorizationError) return errorReply(error, issuer);
  if (error instanceof UnknownReturnAddress) return failurePage(400, error.message);
  if (error instanceof OAuthError) return failurePage(error.status, error.message);
  if (error instanceof ApiError) return failurePage(error.status, error.message, error.retryAfter);
  throw error;
}
