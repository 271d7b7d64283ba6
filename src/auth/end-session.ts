import { actorOf } from '../accounts/actors.ts';
import { ApiError } from '../errors.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { AccessClaims, TokenSettings } from './access-token.ts';
import { redirect } from './authorization-response.ts';
import { bearerToken } from './bearer.ts';
import { BrowserCookie, isFromElsewhere } from './browser.ts';
import { type EndSessionRequest, readEndSessionRequest } from './end-session-request.ts';
import { addToList } from './invalidation.ts';
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
export function endSessionRoutes(deps: EndSessionDeps): readonly Route[] {
  const path = '/connect/endsession';
  const handle = (request: Request) => answer(deps, request).catch(refuse);
  return [
    { method: 'GET', path, handle },
    { method: 'POST', path, handle },
  ];
}

async function answer(deps: EndSessionDeps, request: Request): Promise<Reply> {
  const asked = await readEndSessionRequest(deps, request);
  const token = bearerToken(request);
  if (token !== undefined) return answerClient(deps, request, asked, token);
  const signIn = await currentSignIn(deps, new BrowserCookie(deps.issuer).read(request));
  const { hint } = asked;
  if (hint !== undefined) {
    await end(deps, request, {
      userId: hint.sub,
      session: hint.sid,
      ...(signIn?.user.id === hint.sub ? { signIn } : {}),
    });
  } else if (signIn !== undefined) {
    // Any page can send a browser here: that must not sign its user out.
    if (request.method === 'GET' || isFromElsewhere(request, deps.issuer))
      return signOutPage(signIn.user.email, asked.returnTo?.uri);
    await end(deps, request, { userId: signIn.user.id, signIn });
  }
  // Without proof that the user was signed in to the client, this is no way to send a browser anywhere.
  if (asked.returnTo === undefined || (hint ?? signIn) === undefined) return signedOutPage();
  return goBack(asked.returnTo);
}

/** A client that shows an access token is no browser on its way: it gets a status, unless it wants to be sent somewhere. */
async function answerClient(
  deps: EndSessionDeps,
  request: Request,
  { returnTo }: EndSessionRequest,
  token: string,
): Promise<Reply> {
  const access = await validOrNot(deps.validate, token);
  if (access === undefined) {
    return { status: 401, headers: { ...uncached, 'www-authenticate': 'Bearer error="invalid_token"' } };
  }
  await end(deps, request, { userId: access.sub, access });
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

/** Ends it; resolves when that is on disk. @throws {ApiError} `store_unavailable` */
async function end(deps: EndSessionDeps, { remoteAddress }: Request, ending: Ending): Promise<void> {
  const { directory } = deps;
  const { userId, signIn, access, session = access?.sid } = ending;
  await directory.by(actorOf(directory, userId, remoteAddress)).change((draft) => {
    if (access !== undefined) addToList(draft, access);
    const over = session === undefined ? undefined : endSession(deps, draft, session);
    for (const key of new Set([over?.signIn, signIn?.key]))
      if (key !== undefined) endSignIn(deps, draft, userId, key);
    if ((over ?? signIn ?? access) !== undefined) noteEnd(draft, 'session.ended', userId);
  });
}

function goBack({ uri, state }: NonNullable<EndSessionRequest['returnTo']>): Reply {
  return redirect(uri, { state });
}

function refuse(error: unknown): Reply {
  if (error instanceof OAuthError || error instanceof ApiError)
    return signOutFailurePage(error.status, error.message);
  throw error;
}
