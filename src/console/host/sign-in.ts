import { createHash } from 'node:crypto';
import { consoleClientId } from '../../auth/clients.ts';
import type { ConsoleCallerDeps } from '../../auth/console/caller.ts';
import { parseForm } from '../../auth/form.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Reply, Request } from '../../http/types.ts';
import { newAttempt, startingCookies, stateOf, verifierOf } from './attempt.ts';
import { failurePage, signInFailed } from './failure-page.ts';
import { homePath, readReturnPath } from './return-path.ts';

const notHere = 'The address to return to is not one of this console';

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

/** Where the auth host sends the browser back to. */
export function callbackUrl(baseUrl: string): string {
  return `${baseUrl}/console/callback`;
}

function answer(deps: ConsoleCallerDeps, request: Request): Reply {
  const { audience } = deps;
  const asked = parseForm(request.query);
  const wanted = asked.get('return');
  const returnTo = wanted === undefined ? homePath(audience) : readReturnPath(audience, wanted);
  if (returnTo === undefined) return signInFailed(400, notHere);
  // The callback is at the base URL, and a cookie of another name of this machine, such as localhost, does not get there.
  // A proxy may hide which name was called, so this is done once.
  if (request.header('host') !== new URL(audience).host && !asked.has('moved'))
    return sendTo(`${audience}/console/sign-in?${new URLSearchParams({ return: returnTo, moved: '1' })}`);
  return begin(deps, request, returnTo);
}

function begin(
  { issuer, audience, serviceScope, randomBytes }: ConsoleCallerDeps,
  request: Request,
  returnTo: string,
): Reply {
  const attempt = newAttempt(randomBytes, returnTo);
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: consoleClientId,
    redirect_uri: callbackUrl(audience),
    scope: `openid ${serviceScope}`,
    state: stateOf(attempt),
    code_challenge: createHash('sha256').update(verifierOf(attempt)).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const cookies = startingCookies(audience, request, attempt);
  return { ...sendTo(`${issuer}/connect/authorize?${parameters}`), cookies };
}

/** Sends a browser on. */
export function sendTo(location: string): Reply {
  return {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  };
}
