import { createHash } from 'node:crypto';
import { hashSecret, type RandomBytes } from '../../accounts/secrets.ts';
import { laterPage } from '../../auth/browser/pages/failure-page.ts';
import { html } from '../../auth/browser/pages/html.ts';
import { pageResponse } from '../../auth/browser/pages/page.ts';
import { beginConsoleSession, type ConsoleCallers } from '../../auth/console-session.ts';
import { type HostCookie, hostCookie } from '../../auth/cookies/host-cookie.ts';
import { consoleClientId, type Form } from '../../auth/oauth/clients.ts';
import { redeemCode } from '../../auth/oauth/codes.ts';
import { parseForm } from '../../auth/oauth/forms.ts';
import { computeMac, type MacKeys, verifyMac } from '../../auth/oauth/mac.ts';
import { OAuthError } from '../../auth/oauth/oauth-error.ts';
import type { Services } from '../../auth/oauth/services.ts';
import { endSession } from '../../auth/oauth/sessions.ts';
import type { SsoServices } from '../../auth/sso/services.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { readCookies } from '../../http/pairs.ts';
import type { HttpResponse, Request } from '../../http/types.ts';

const foreignReturn = 'The address to return to does not belong to this console';

/** `GET /console/sign-in`: sends the browser to the sign-in page of the auth host (RFC 6749 §4.1.1). */
export const signInEndpoint: Endpoint<Services> = {
  method: 'GET',
  path: '/console/sign-in',
  access: { credential: 'None', who: 'Anyone with a browser' },
  bind: (deps) => (request) => {
    try {
      return handleSignIn(deps, request);
    } catch (error) {
      return refusalPage(error);
    }
  },
};

function callbackUrl(baseUrl: string): string {
  return `${baseUrl}/console/callback`;
}

/** Maximum age of the user's sign-in, which the auth host checks. */
type AgeLimit = { readonly max_age?: string };

function handleSignIn(deps: Services, request: Request): HttpResponse {
  const { audience } = deps;
  const asked = parseForm(request.query);
  const wanted = asked.get('return');
  const returnTo = wanted === undefined ? homePath(audience) : readReturnPath(audience, wanted);
  if (returnTo === undefined) return signInFailed(400, foreignReturn);
  const maxAge = asked.get('max_age');
  const limit: AgeLimit = maxAge === undefined ? {} : { max_age: maxAge };
  // The callback is at the base URL. A cookie of another host name, such as localhost, would not be sent there. A proxy
  // can hide the host name of the request, so the browser is redirected only once.
  if (request.header('host') !== new URL(audience).host && !asked.has('moved'))
    return sendTo(`${audience}/console/sign-in?${new URLSearchParams({ return: returnTo, ...limit, moved: '1' })}`);
  return begin(deps, request, returnTo, limit);
}

function begin(
  { issuer, audience, serviceScope, keys, randomBytes }: Services,
  request: Request,
  returnTo: string,
  limit: AgeLimit,
): HttpResponse {
  const attempt = newAttempt(randomBytes, returnTo);
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: consoleClientId,
    redirect_uri: callbackUrl(audience),
    scope: `openid ${serviceScope}`,
    state: encodeState(keys, attempt),
    code_challenge: createHash('sha256').update(deriveVerifier(attempt)).digest('base64url'),
    code_challenge_method: 'S256',
    ...limit,
  });
  const cookies = startingCookies(audience, request, attempt);
  return { ...sendTo(`${issuer}/connect/authorize?${parameters}`), cookies };
}

function sendTo(location: string): HttpResponse {
  return { status: 303, headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } };
}

/** Maximum length in characters. It is limited because the path is part of the `state`. */
const maxLength = 1000;

/**
 * Reads the path in the parameter `return`; `undefined` for everything that a browser could interpret as another
 * origin, such as `//host`, `/\host` or a scheme.
 * @param baseUrl the public URL of the base host, which serves the console
 */
export function readReturnPath(baseUrl: string, text: string): string | undefined {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\') || text.length > maxLength) return undefined;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(text, origin)) return undefined;
  const url = new URL(text, origin);
  if (url.origin !== origin || url.pathname.startsWith('//')) return undefined;
  return url.pathname + url.search + url.hash;
}

function homePath(baseUrl: string): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}/`;
}

export interface CallbackDeps extends SsoServices {
  readonly console: ConsoleCallers;
}

const unknownAttempt = 'The sign-in has expired, was started in another browser, or the browser does not store cookies';
const otherIssuer = 'The response is from another auth host';
const codeRefused = 'The sign-in has expired or was already completed';

/** Messages for errors of the auth host (RFC 6749 §4.1.2.1). */
const refusals: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'The sign-in was cancelled'],
  ['temporarily_unavailable', 'Signing in is temporarily unavailable; try again in a minute'],
]);

/** `GET /console/callback`: redeems the code of the auth host, and starts a session (RFC 6749 §4.1.2, §4.1.3). */
export const callbackEndpoint: Endpoint<CallbackDeps> = {
  method: 'GET',
  path: '/console/callback',
  access: { credential: 'Cookie of `/console/sign-in`, code', who: 'The browser that started the sign-in' },
  bind: (deps) => (request) => handleCallback(deps, request).catch(refusalPage),
};

async function handleCallback(deps: CallbackDeps, request: Request): Promise<HttpResponse> {
  const { audience, issuer } = deps;
  const parameters = parseForm(request.query);
  const attempt = findAttempt(deps, request, parameters.get('state') ?? '');
  if (attempt === undefined) return signInFailed(400, unknownAttempt);
  const response =
    parameters.get('iss') === issuer // RFC 9207 §2.4
      ? await finishSignIn(deps, request, attempt, parameters)
      : signInFailed(400, otherIssuer);
  return { ...response, cookies: [...(response.cookies ?? []), endingCookie(audience, attempt)] };
}

async function finishSignIn(
  deps: CallbackDeps,
  request: Request,
  attempt: Attempt,
  parameters: Form,
): Promise<HttpResponse> {
  const { audience, console } = deps;
  const code = parameters.get('code');
  if (code === undefined) {
    const refusal = refusals.get(parameters.get('error') ?? '');
    return signInFailed(400, refusal ?? 'The auth host refused the sign-in');
  }
  const presented = {
    code,
    clientId: consoleClientId,
    redirectUri: callbackUrl(audience),
    verifier: deriveVerifier(attempt),
  };
  // A browser has one session. The cookie of an earlier session is sent if the auth host is at the same site.
  const previous = console.previous(request);
  const redemption = await redeemCode(deps, presented, request.remoteAddress, (...begun) => {
    if (previous !== undefined) endSession(deps, begun[1], previous);
    return beginConsoleSession(...begun);
  });
  if (redemption.outcome !== 'exchanged') return signInFailed(400, codeRefused);
  return {
    ...sendTo(new URL(audience).origin + attempt.returnTo),
    cookies: [console.writeCookie(redemption.issued.cookie)],
  };
}

/**
 * A sign-in attempt. Each attempt has its own cookie, so that two tabs of a browser can sign in at the same time. The
 * `state` (RFC 6749 §10.12) and the PKCE verifier (RFC 7636 §4.1) derive from the secret in the cookie. URLs contain
 * only hashes, and only this service can make a `state`.
 */
interface Attempt {
  readonly id: string;
  readonly secret: string;
  /** Path of the console to which the browser returns. */
  readonly returnTo: string;
}

const lifetime = 3600;

/** Maximum number of open attempts of a browser. More cookies would make its requests too large. */
const maxAttempts = 24;

/** Length of the secret in characters: 256 bits in base64url. */
const secretLength = 43;

const purpose = 'sign-ins to the console';

const stateForm = /^([\w-]{11})\.([0-9a-f]{64})\.([\w-]+)$/;

/** Starts an attempt with an id of 64 random bits and a secret of 256 random bits. */
function newAttempt(randomBytes: RandomBytes, returnTo: string): Attempt {
  const randomText = (size: number) => Buffer.from(randomBytes(size)).toString('base64url');
  return { id: randomText(8), secret: randomText(32), returnTo };
}

/** Encodes the `state` of an attempt: its id, an HMAC of the attempt, and the path to return to. */
function encodeState(keys: MacKeys, { id, secret, returnTo }: Attempt): string {
  const code = computeMac(keys, purpose, id, secret, returnTo).toString('hex');
  return `${id}.${code}.${Buffer.from(returnTo).toString('base64url')}`;
}

function deriveVerifier({ secret }: Attempt): string {
  return hashSecret(`verifier.${secret}`);
}

/** Finds this browser's attempt by its `state`. */
function findAttempt(
  { audience, keys }: { readonly audience: string; readonly keys: MacKeys },
  request: Pick<Request, 'header'>,
  state: string,
): Attempt | undefined {
  const [, id = '', code = '', encoded = ''] = stateForm.exec(state) ?? [];
  const returnTo = Buffer.from(encoded, 'base64url').toString();
  const cookie = attemptCookie(audience, id);
  const found = Buffer.from(code, 'hex');
  for (const [sent, secret] of readCookies(request)) {
    if (sent !== cookie.name || secret.length !== secretLength) continue;
    if (verifyMac(found, keys, purpose, id, secret, returnTo)) return { id, secret, returnTo };
  }
  return undefined;
}

/** Returns the `Set-Cookie` values for a new attempt. Removes the oldest attempts beyond the maximum. */
function startingCookies(
  baseUrl: string,
  request: Pick<Request, 'header'>,
  { id, secret }: Attempt,
): readonly string[] {
  const prefix = `${attemptCookie(baseUrl, '').name}-`;
  const open = Array.from(readCookies(request), ([sent]) => sent).filter((sent) => sent.startsWith(prefix));
  // A browser sends the oldest cookie first (RFC 6265 §5.4).
  const tooMany = open.slice(0, Math.max(0, open.length - maxAttempts + 1)).map((sent) => sent.slice(prefix.length));
  return [
    ...tooMany.map((old) => attemptCookie(baseUrl, old).removal),
    attemptCookie(baseUrl, id).write(secret, lifetime),
  ];
}

function endingCookie(baseUrl: string, { id }: Attempt): string {
  return attemptCookie(baseUrl, id).removal;
}

/** Returns a `Lax` cookie. Browsers do not send `Strict` cookies after a redirect from an auth host at another site. */
function attemptCookie(baseUrl: string, id: string): HostCookie {
  return hostCookie(baseUrl, 'flagmeter-sign-in', 'Lax', id);
}

function signInFailed(status: number, reason: string, retryAfter?: number): HttpResponse {
  return pageResponse({
    status,
    title: 'Not signed in',
    ...(retryAfter === undefined ? {} : { retryAfter: Math.ceil(retryAfter) }),
    content: html`<h1>You are not signed in</h1>
<p class="error">${reason}.</p>
<p class="note"><a href="sign-in">Sign in to the console</a></p>`,
  });
}

/** Returns the page for a refusal. @throws other errors unchanged */
export function refusalPage(error: unknown): HttpResponse {
  if (error instanceof Refusal && error.code === 'postgres_unavailable') return laterPage(error);
  if (error instanceof OAuthError || error instanceof Refusal)
    return signInFailed(error.status, error.message, error.retryAfter);
  throw error;
}
