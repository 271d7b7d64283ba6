import { Unauthorized } from '../../auth/bearer.ts';
import type { ConsoleSession } from '../../auth/console/session.ts';
import { endSession, endSignIn, endsAt, noteEnd } from '../../auth/sessions.ts';
import type { SignedIn } from '../../contract/console.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Reply, Request } from '../../http/types.ts';
import type { CallbackDeps } from './callback.ts';

export const sessionPath = '/console/session';

const notCached = { 'cache-control': 'no-store' };
const access = { credential: 'Console cookie', who: 'The signed-in user, from a page of the console' };

/** `GET /console/session` says who is signed in, `DELETE` signs them out. */
export const sessionEndpoints: readonly Endpoint<CallbackDeps>[] = [
  {
    method: 'GET',
    path: sessionPath,
    access,
    bind: (deps) => (request) => show(deps, request).catch(challenge),
  },
  {
    method: 'DELETE',
    path: sessionPath,
    access,
    bind: (deps) => (request) => signOut(deps, request).catch(challenge),
  },
];

async function show({ console }: CallbackDeps, request: Request): Promise<Reply> {
  const found = console.find(request);
  const body: SignedIn = found === undefined ? { user: null, expiresAt: null } : signedIn(found);
  return {
    status: 200,
    headers: { ...notCached, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

function signedIn({ session, user }: ConsoleSession): SignedIn {
  const { id, email, name, role, teams, primaryTeam } = user;
  return {
    user: { id, email, name, role, teams, primaryTeam },
    expiresAt: new Date(endsAt(session)).toISOString(),
  };
}

/** Ends the session, and the browser's sign-in with all that came from it: a public computer must be safe to leave. */
async function signOut(deps: CallbackDeps, request: Request): Promise<Reply> {
  const { console, directory } = deps;
  const found = console.find(request);
  if (found !== undefined) {
    const { key, user } = found;
    await directory.under({ id: user.id, address: request.remoteAddress }).change((draft) => {
      const over = endSession(deps, draft, key);
      if (over === undefined) return;
      endSignIn(deps, draft, user.id, over.signIn);
      noteEnd(draft, 'session.ended', user.id);
    });
  }
  return { status: 204, headers: notCached, cookies: [console.cookie.removal] };
}

function challenge(error: unknown): Reply {
  if (error instanceof Unauthorized)
    return problem(error, { ...notCached, 'www-authenticate': error.challenge });
  throw error;
}
