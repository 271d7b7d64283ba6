import { ApiError } from '../errors.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { commit } from '../store/transact.ts';
import type { AccessClaims, TokenSettings } from './access-token.ts';
import { redirect } from './authorization-response.ts';
import { bearerToken } from './bearer.ts';
import { BrowserCookie, isFromElsewhere } from './browser.ts';
import { type EndSessionRequest, readEndSessionRequest } from './end-session-request.ts';
import { OAuthError, uncached } from './oauth-error.ts';
import { signedOutPage, signOutFailurePage, signOutPage } from './pages/sign-out-pages.ts';
import { noteEnd } from './session-notes.ts';
import { endSession, endSignIn, type SessionDeps } from './sessions.ts';
import { type CurrentSignIn, currentSignIn } from './sign-ins.ts';
import { type ValidateToken, validOrNot } from './validate-token.ts';

export interface EndSessionDeps extends SessionDeps, TokenSettings {
  readonly validate: ValidateToken;
}

/**
 * `GET` and `POST /connect/endsession`: signs a user out (OpenID Connect RP-Initiated Logout). Whose sign-out it is says
 * the client, by its ID or access token, or the browser, by its cookie. All tokens that came from that sign-in die.
 */
export function endSessionRoutes(parts: EndSessionDeps): readonly Route[] {
  const path = '/connect/endsession';
  const handle = (request: Request) => answer(parts, request).catch(refuse);
  return [
    { method: 'GET', path, handle },
    { method: 'POST', path, handle },
  ];
}

async function answer(parts: EndSessionDeps, request: Request): Promise<Reply> {
  const asked = await readEndSessionRequest(parts, request);
  const token = bearerToken(request);
  if (token !== undefined) return answerClient(parts, request, asked, token);
  const signIn = currentSignIn(parts, new BrowserCookie(parts.issuer).read(request));
  const { hint } = asked;
  if (hint !== undefined) {
    await end(parts, request, {
      userId: hint.sub,
      session: hint.sid,
      ...(signIn?.user.id === hint.sub ? { signIn } : {}),
    });
  } else if (signIn !== undefined) {
    // Any page can send a browser here: that must not sign its user out.
    if (request.method === 'GET' || isFromElsewhere(request, parts.issuer))
      return signOutPage(signIn.user.email, asked.returnTo?.uri);
    await end(parts, request, { userId: signIn.user.id, signIn });
  }
  // Nobody shows that he was signed in to the client: then this is no way to send a browser anywhere.
  if (asked.returnTo === undefined || (hint ?? signIn) === undefined) return signedOutPage();
  return goBack(asked.returnTo);
}

/** A client that shows an access token is no browser on its way: it gets a status, unless it wants to be sent somewhere. */
async function answerClient(
  parts: EndSessionDeps,
  request: Request,
  { returnTo }: EndSessionRequest,
  token: string,
): Promise<Reply> {
  const access = await validOrNot(parts.validate, token);
  if (access === undefined) {
    return { status: 401, headers: { ...uncached, 'www-authenticate': 'Bearer error="invalid_token"' } };
  }
  await end(parts, request, { userId: access.sub, access });
  return returnTo === undefined
    ? { status: 204, headers: { 'cache-control': 'no-store' } }
    : goBack(returnTo);
}

/** What is to end, as far as the request shows it. */
interface Ending {
  readonly userId: string;
  /** The key of a session: its sign-in ends with it. */
  readonly session?: string;
  readonly signIn?: CurrentSignIn;
  readonly access?: AccessClaims;
}

/** Ends it, on disk before this goes on. @throws {ApiError} `store_unavailable` */
async function end(parts: EndSessionDeps, request: Request, ending: Ending): Promise<void> {
  const { userId, signIn, access, session = access?.sid } = ending;
  const { accounts, health, invalidation } = parts;
  const ended = commit(accounts.lmdb, health, () => {
    if (access !== undefined) invalidation.add(access);
    const over = session === undefined ? undefined : endSession(parts, session);
    for (const key of new Set([over?.signIn, signIn?.key]))
      if (key !== undefined) endSignIn(parts, userId, key);
    return (over ?? signIn ?? access) !== undefined;
  });
  if (ended) await noteEnd(parts.directory, 'session.ended', userId, request);
}

function goBack({ uri, state }: NonNullable<EndSessionRequest['returnTo']>): Reply {
  return redirect(uri, { state });
}

function refuse(error: unknown): Reply {
  if (error instanceof OAuthError || error instanceof ApiError)
    return signOutFailurePage(error.status, error.message);
  throw error;
}
