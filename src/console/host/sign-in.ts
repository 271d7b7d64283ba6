import { createHash } from 'node:crypto';
import type { LogoutDeps } from '../../auth/browser/sso/logout.ts';
import type { ConsoleCallerDeps, ConsoleCallers } from '../../auth/console/caller.ts';
import { beginConsoleSession } from '../../auth/console/session.ts';
import { consoleClientId } from '../../auth/oauth/clients/clients.ts';
import { type Form, parseForm } from '../../auth/oauth/clients/form.ts';
import { redeemCode } from '../../auth/oauth/codes/codes.ts';
import { endSession } from '../../auth/oauth/sessions/sessions.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Reply, Request } from '../../http/types.ts';
import {
  type Attempt,
  endingCookie,
  findAttempt,
  newAttempt,
  startingCookies,
  stateOf,
  verifierOf,
} from './attempt.ts';
import { failurePage, signInFailed } from './failure-page.ts';

const foreignReturn = 'The address to return to is not one of this console';

/** `GET /console/sign-in`: sends the browser to the sign-in page of the auth host (RFC 6749 §4.1.1). */
export const signInEndpoint: Endpoint<ConsoleCallerDeps> = {
  method: 'GET',
  path: '/console/sign-in',
  access: { credential: 'None', who: 'Anyone with a browser' },
  bind: (deps) => (request) => {
    try {
      return answerSignIn(deps, request);
    } catch (error) {
      return failurePage(error);
    }
  },
};

/** The redirect URI of the console. */
function callbackUrl(baseUrl: string): string {
  return `${baseUrl}/console/callback`;
}

/** Maximum time since the user signed in, which the auth host checks. */
type AgeLimit = { readonly max_age?: string };

function answerSignIn(deps: ConsoleCallerDeps, request: Request): Reply {
  const { audience } = deps;
  const asked = parseForm(request.query);
  const wanted = asked.get('return');
  const returnTo = wanted === undefined ? homePath(audience) : readReturnPath(audience, wanted);
  if (returnTo === undefined) return signInFailed(400, foreignReturn);
  const maxAge = asked.get('max_age');
  const limit: AgeLimit = maxAge === undefined ? {} : { max_age: maxAge };
  // The callback is at the base URL. A cookie of another host name, such as localhost, would not be sent there. A proxy may hide
  // the host name of the request, so this redirects only once.
  if (request.header('host') !== new URL(audience).host && !asked.has('moved'))
    return sendTo(
      `${audience}/console/sign-in?${new URLSearchParams({ return: returnTo, ...limit, moved: '1' })}`,
    );
  return begin(deps, request, returnTo, limit);
}

function begin(
  { issuer, audience, serviceScope, keys, randomBytes }: ConsoleCallerDeps,
  request: Request,
  returnTo: string,
  limit: AgeLimit,
): Reply {
  const attempt = newAttempt(randomBytes, returnTo);
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: consoleClientId,
    redirect_uri: callbackUrl(audience),
    scope: `openid ${serviceScope}`,
    state: stateOf(keys, attempt),
    code_challenge: createHash('sha256').update(verifierOf(attempt)).digest('base64url'),
    code_challenge_method: 'S256',
    ...limit,
  });
  const cookies = startingCookies(audience, request, attempt);
  return { ...sendTo(`${issuer}/connect/authorize?${parameters}`), cookies };
}

/** Redirects a browser. */
function sendTo(location: string): Reply {
  return {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  };
}

/** Maximum length in characters: the path is part of the `state`. */
const maxLength = 1000;

/**
 * The path in the parameter `return`; `undefined` for everything that a browser could interpret as another origin, such as
 * `//host`, `/\host` or a scheme.
 * @param baseUrl the public URL of the base host
 */
export function readReturnPath(baseUrl: string, text: string): string | undefined {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\') || text.length > maxLength)
    return undefined;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(text, origin)) return undefined;
  const url = new URL(text, origin);
  if (url.origin !== origin || url.pathname.startsWith('//')) return undefined;
  return url.pathname + url.search + url.hash;
}

function homePath(baseUrl: string): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}/`;
}

export type CallbackDeps = ConsoleCallerDeps & LogoutDeps & { readonly console: ConsoleCallers };

const unknownAttempt =
  'The sign-in has expired, was started in another browser, or the browser does not store cookies';
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
  bind: (deps) => (request) => answerCallback(deps, request).catch(failurePage),
};

async function answerCallback(deps: CallbackDeps, request: Request): Promise<Reply> {
  const { audience, issuer } = deps;
  const parameters = parseForm(request.query);
  const attempt = findAttempt(deps, request, parameters.get('state') ?? '');
  if (attempt === undefined) return signInFailed(400, unknownAttempt);
  const reply =
    parameters.get('iss') === issuer // RFC 9207 §2.4
      ? await finishSignIn(deps, request, attempt, parameters)
      : signInFailed(400, otherIssuer);
  return { ...reply, cookies: [...(reply.cookies ?? []), endingCookie(audience, attempt)] };
}

async function finishSignIn(
  deps: CallbackDeps,
  request: Request,
  attempt: Attempt,
  parameters: Form,
): Promise<Reply> {
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
    verifier: verifierOf(attempt),
  };
  // The browser has one session. Its cookie is sent here if the auth host is at the same site.
  const previous = console.previous(request);
  const redemption = await redeemCode(deps, presented, request.remoteAddress, (...begun) => {
    if (previous !== undefined) endSession(deps, begun[1], previous);
    return beginConsoleSession(...begun);
  });
  if (redemption.outcome !== 'exchanged') return signInFailed(400, codeRefused);
  return {
    ...sendTo(new URL(audience).origin + attempt.returnTo),
    cookies: [console.cookie.write(redemption.turn.cookie)],
  };
}
