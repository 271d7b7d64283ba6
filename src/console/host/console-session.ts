import { getPreferences } from '../../accounts/preferences.ts';
import { logOutAtProvider } from '../../auth/browser/sso/logout.ts';
import type { ConsoleSession } from '../../auth/console-session.ts';
import { endSession, endSignIn, endsAt, noteEnd } from '../../auth/oauth/sessions.ts';
import { UnauthorizedError } from '../../auth/oauth/validation.ts';
import type { Refusal } from '../../contract/errors.ts';
import { listTeamRoles } from '../../contract/roles.ts';
import type { SignedIn, SignedOut } from '../../contract/shapes/console.ts';
import type { Endpoint, Group } from '../../http/endpoint.ts';
import { problem } from '../../http/responses.ts';
import type { HttpResponse, Request, Route } from '../../http/types.ts';
import { type CallbackDeps, callbackEndpoint, refusalPage, signInEndpoint } from './sign-in.ts';

const sessionPath = '/console/session';

const notCached = { 'cache-control': 'no-store' };
const access = { credential: 'Console cookie', who: 'The signed-in user, from a page of the console' };

const sessionEndpoints: readonly Endpoint<CallbackDeps>[] = [
  { method: 'GET', path: sessionPath, access, bind: (deps) => (request) => show(deps, request).catch(challenge) },
  { method: 'DELETE', path: sessionPath, access, bind: (deps) => (request) => signOut(deps, request).catch(challenge) },
];

export const consoleSession: Group<CallbackDeps> = {
  tag: 'Console session',
  description: 'Signing in to the web console.',
  endpoints: [signInEndpoint, callbackEndpoint, ...sessionEndpoints],
};

/** Returns the response while accounts are unavailable: JSON for the console's script, and an HTML page for people. */
export function unavailableResponse(refusal: Refusal, { path }: Pick<Route, 'path'>): HttpResponse {
  return path === sessionPath ? problem(refusal, { 'cache-control': 'no-store' }) : refusalPage(refusal);
}

async function show({ console }: CallbackDeps, request: Request): Promise<HttpResponse> {
  const found = console.find(request);
  const body: SignedIn = found === undefined ? { user: null, expiresAt: null } : signedIn(found);
  return { status: 200, headers: { ...notCached, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function signedIn({ session, user }: ConsoleSession): SignedIn {
  const { id, email, name, role, teams, primaryTeam } = user;
  return {
    user: {
      id,
      email,
      name,
      role,
      teams,
      primaryTeam,
      teamRoles: listTeamRoles(user),
      preferences: getPreferences(user),
    },
    expiresAt: new Date(endsAt(session)).toISOString(),
  };
}

/** Ends the session, and the sign-in of the browser with all its sessions. A public computer is then safe to leave. */
async function signOut(deps: CallbackDeps, request: Request): Promise<HttpResponse> {
  const { console, directory } = deps;
  const found = console.find(request);
  const cookies = [console.removal];
  if (found !== undefined) {
    const { key, user } = found;
    await directory.under({ id: user.id, address: request.remoteAddress }).change((tx) => {
      const over = endSession(deps, tx, key);
      if (over === undefined) return;
      endSignIn(deps, tx, user.id, over.signIn);
      noteEnd(tx, 'session.ended', user.id);
    });
  }
  const onward = await logOutAtProvider(deps, found?.session.authentication);
  const { location } = onward?.headers ?? {};
  if (location === undefined) return { status: 204, headers: notCached, cookies };
  const headers = { ...notCached, 'content-type': 'application/json' };
  return { status: 200, headers, cookies, body: JSON.stringify({ continueAt: location } satisfies SignedOut) };
}

function challenge(error: unknown): HttpResponse {
  if (error instanceof UnauthorizedError) return problem(error, { ...notCached, 'www-authenticate': error.challenge });
  throw error;
}
