import { redeemCode } from '../../auth/authorize/codes.ts';
import { consoleClientId } from '../../auth/clients/clients.ts';
import { type Form, parseForm } from '../../auth/clients/form.ts';
import type { ConsoleCallerDeps, ConsoleCallers } from '../../auth/console/caller.ts';
import { beginConsoleSession } from '../../auth/console/session.ts';
import { endSession } from '../../auth/sessions.ts';
import type { LogoutDeps } from '../../auth/sso/logout.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Reply, Request } from '../../http/types.ts';
import { type Attempt, endingCookie, findAttempt, verifierOf } from './attempt.ts';
import { failurePage, signInFailed } from './failure-page.ts';
import { callbackUrl, sendTo } from './sign-in.ts';

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
  bind: (deps) => (request) => answer(deps, request).catch(failurePage),
};

async function answer(deps: CallbackDeps, request: Request): Promise<Reply> {
  const { audience, issuer } = deps;
  const parameters = parseForm(request.query);
  const attempt = findAttempt(deps, request, parameters.get('state') ?? '');
  if (attempt === undefined) return signInFailed(400, unknownAttempt);
  const reply =
    parameters.get('iss') === issuer // RFC 9207 §2.4
      ? await finish(deps, request, attempt, parameters)
      : signInFailed(400, otherIssuer);
  return { ...reply, cookies: [...(reply.cookies ?? []), endingCookie(audience, attempt)] };
}

async function finish(
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
