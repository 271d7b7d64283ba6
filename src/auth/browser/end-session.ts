import Type from 'typebox';
import { Refusal } from '../../contract/errors.ts';
import { text } from '../../contract/shapes/fields.ts';
import type { HttpResponse, Request } from '../../http/types.ts';
import { BrowserCookie, isFromElsewhere } from '../cookies/browser.ts';
import { redirect } from '../oauth/authorization-request.ts';
import { type Form, findClient, matchesRedirect } from '../oauth/clients.ts';
import { isForm, parseForm, readForm } from '../oauth/forms.ts';
import { OAuthError, uncached } from '../oauth/oauth-error.ts';
import { endSession, endSignIn, noteEnd } from '../oauth/sessions.ts';
import { type CurrentSignIn, currentSignIn } from '../oauth/sign-ins.ts';
import { type AccessClaims, addToList, type IdTokenHint, readIdTokenHint } from '../oauth/tokens.ts';
import { bearerToken, isStillValid, validOrNot } from '../oauth/validation.ts';
import type { SsoServices } from '../sso/services.ts';
import { pageEndpoints } from './forms/page-endpoints.ts';
import { signedOutPage, signOutFailurePage, signOutPage } from './pages/sign-out-pages.ts';
import { type Destination, logOutAtProvider } from './sso/logout.ts';

const parameters = Type.Object({
  id_token_hint: Type.Optional(text('An ID token issued to the client.')),
  client_id: Type.Optional(text('Id of the client. An ID token must have been issued to the same client.')),
  post_logout_redirect_uri: Type.Optional(text('A redirect URI of the client. Any other URI is ignored.')),
  state: Type.Optional(text('Returned unchanged.')),
});

const responses = {
  200: 'The user is signed out, or is asked whether to sign out.',
  204: 'The user of the access token is signed out.',
  303: 'Redirect to `post_logout_redirect_uri`.',
  400: 'An error page: the request is malformed.',
  401: 'The access token is not valid. The response has no body.',
  503: 'An error page: the store cannot commit the change.',
};

const access = { credential: 'ID token, access token, or the cookie of the sign-in page', who: 'The signed-in user' };
const bind = (services: SsoServices) => (request: Request) => handleEndSession(services, request).catch(refuse);

/**
 * `GET` and `POST /connect/endsession`: signs a user out (OpenID Connect RP-Initiated Logout). The user is identified
 * by the client's ID token or access token, or by the browser's cookie. All tokens of the ended sign-in become invalid.
 */
export const endSessionEndpoints = pageEndpoints('/connect/endsession', access, {
  GET: { operationId: 'endSession', summary: 'Sign out a user', query: parameters, responses, bind },
  POST: {
    operationId: 'postEndSession',
    summary: 'Sign out a user, with the parameters in a form',
    query: parameters,
    responses: { ...responses, 413: 'An error page: the form is too long.' },
    bind,
  },
});

async function handleEndSession(services: SsoServices, request: Request): Promise<HttpResponse> {
  const asked = await readEndSessionRequest(services, request);
  const token = bearerToken(request);
  if (token !== undefined) return handleClient(services, request, asked, token);
  const browser = new BrowserCookie(services.issuer).read(request);
  const signIn = await currentSignIn(services, browser);
  const { hint } = asked;
  if (hint !== undefined) {
    await end(services, request, {
      userId: hint.sub,
      session: hint.sid,
      ...(signIn?.user.id === hint.sub ? { signIn } : {}),
    });
  } else if (signIn !== undefined) {
    // Any web page can send a browser to this endpoint, so the request alone must not sign the user out.
    if (request.method === 'GET' || isFromElsewhere(request, services.issuer))
      return signOutPage(signIn.user.email, asked.returnTo?.uri);
    await end(services, request, { userId: signIn.user.id, signIn });
  }
  // A redirect without proof that the user was signed in would make this endpoint an open redirector.
  const isProven = (hint ?? signIn) !== undefined;
  const returnTo = isProven ? asked.returnTo : undefined;
  const ended = hint === undefined || signIn?.user.id === hint.sub ? signIn : undefined;
  const back = returnTo && browser && { to: returnTo, browser };
  const onward = await logOutAtProvider(services, ended?.authentication, back);
  return onward ?? (returnTo === undefined ? signedOutPage() : goBack(returnTo));
}

/** Responds to a client that is not a browser, with a status code or the requested redirect. */
async function handleClient(
  services: SsoServices,
  request: Request,
  { returnTo }: EndSessionRequest,
  token: string,
): Promise<HttpResponse> {
  const access = await validOrNot(services.validate, token);
  if (access === undefined || !(await end(services, request, { userId: access.sub, access }))) {
    return { status: 401, headers: { ...uncached, 'www-authenticate': 'Bearer error="invalid_token"' } };
  }
  return returnTo === undefined ? { status: 204, headers: { 'cache-control': 'no-store' } } : goBack(returnTo);
}

interface SignOut {
  readonly userId: string;
  /** The key of the session to end. Its sign-in ends, too. */
  readonly session?: string;
  readonly signIn?: CurrentSignIn;
  readonly access?: AccessClaims;
}

/**
 * Ends the sign-in, and resolves when the change is on disk. Returns `false` and changes nothing if the access token
 * has expired or was revoked.
 * @throws {Refusal} `store_unavailable`
 */
function end(services: SsoServices, { remoteAddress }: Request, signOut: SignOut): Promise<boolean> {
  const { directory } = services;
  const { userId, signIn, access, session = access?.sid } = signOut;
  return directory.under({ id: userId, address: remoteAddress }).change((tx) => {
    if (access !== undefined && !isStillValid(services, access, tx)) return false;
    if (access !== undefined) addToList(tx, access);
    const wasSignedIn = signIn !== undefined && tx.has('signIns', signIn.key);
    const over = session === undefined ? undefined : endSession(services, tx, session);
    for (const key of new Set([over?.signIn, signIn?.key])) if (key !== undefined) endSignIn(services, tx, userId, key);
    if ((over ?? access) !== undefined || wasSignedIn) noteEnd(tx, 'session.ended', userId);
    return true;
  });
}

function goBack({ uri, state }: Destination): HttpResponse {
  return redirect(uri, { state });
}

function refuse(error: unknown): HttpResponse {
  if (error instanceof OAuthError || error instanceof Refusal) return signOutFailurePage(error.status, error.message);
  throw error;
}

/** A client's request to sign its user out (OpenID Connect RP-Initiated Logout §2). */
interface EndSessionRequest {
  /** The user and the session in the ID token of the request; `undefined` if the request has no ID token. */
  readonly hint: IdTokenHint | undefined;
  /** The registered address to redirect to after the sign-out; `undefined` if the request has no registered address. */
  readonly returnTo: Destination | undefined;
}

/**
 * Reads the parameters from the query and, for a `POST`, from the form.
 * @throws {OAuthError} `invalid_request`
 */
async function readEndSessionRequest(services: SsoServices, request: Request): Promise<EndSessionRequest> {
  const form = isForm(request) ? await readForm(request) : new Map<string, string>();
  const parameters: Form = new Map([...parseForm(request.query), ...form]);
  const hint = await readHint(services, parameters);
  return { hint, returnTo: readReturn(services, parameters, hint) };
}

async function readHint(services: SsoServices, parameters: Form): Promise<IdTokenHint | undefined> {
  const text = parameters.get('id_token_hint');
  if (text === undefined) return undefined;
  const hint = await readIdTokenHint(services, text);
  if (hint === undefined)
    throw new OAuthError('invalid_request', 'id_token_hint is not an ID token issued by this service');
  const clientId = parameters.get('client_id');
  if (clientId !== undefined && clientId !== hint.aud)
    throw new OAuthError('invalid_request', 'client_id differs from the client of id_token_hint');
  return hint;
}

/** Finds the return address. An unregistered address is ignored: the user is signed out, but not redirected. */
function readReturn(
  { directory, audience }: SsoServices,
  parameters: Form,
  hint: IdTokenHint | undefined,
): EndSessionRequest['returnTo'] {
  const uri = parameters.get('post_logout_redirect_uri');
  const client = findClient(directory, hint?.aud ?? parameters.get('client_id') ?? '');
  if (uri === undefined || client === undefined || !matchesRedirect(client, uri, audience)) return undefined;
  return { clientId: client.clientId, uri, state: parameters.get('state') ?? null };
}
