import { createHash } from 'node:crypto';
import { consoleClientId } from '../../auth/clients/clients.ts';
import { parseForm } from '../../auth/clients/form.ts';
import type { ConsoleCallerDeps } from '../../auth/console/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Reply, Request } from '../../http/types.ts';
import { newAttempt, startingCookies, stateOf, verifierOf } from './attempt.ts';
import { failurePage, signInFailed } from './failure-page.ts';

const foreignReturn = 'The address to return to is not one of this console';

/** `GET /console/sign-in`: sends the browser to the sign-in page of the auth host (RFC 6749 §4.1.1). */
export const signInEndpoint: Endpoint<ConsoleCallerDeps> = {
  method: 'GET',
  path: '/console/sign-in',
  access: { credential: 'None', who: 'Anyone with a browser' },
  bind: (deps) => (request) => {
    try {
      return answer(deps, request);
    } catch (error) {
      return failurePage(error);
    }
  },
};

/** The redirect URI of the console. */
export function callbackUrl(baseUrl: string): string {
  return `${baseUrl}/console/callback`;
}

/** Maximum time since the user signed in, which the auth host checks. */
type AgeLimit = { readonly max_age?: string };

function answer(deps: ConsoleCallerDeps, request: Request): Reply {
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
export function sendTo(location: string): Reply {
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

/** The path of the console. */
function homePath(baseUrl: string): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}/`;
}
