import type { Request } from '../../http/types.ts';
import type { AccessClaims, TokenSettings } from '../access-token.ts';
import { Unauthorized } from '../bearer.ts';
import type { SessionDeps } from '../sessions.ts';
import { type ConsoleCookie, consoleCookie } from './cookie.ts';
import { ownPageCheck } from './own-page.ts';
import { type ConsoleSession, findConsoleSession, SessionUses } from './session.ts';

export type ConsoleCallerDeps = SessionDeps &
  Pick<TokenSettings, 'issuer' | 'audience'> & { readonly serviceScope: string };

const sessionOver = 'The session has ended: sign in again';

/** Authenticates callers from the console. Its cookie counts only in requests that its own pages send without a token. */
export interface ConsoleCallers {
  readonly cookie: ConsoleCookie;
  /**
   * The session of a request's cookie, marked as used now; `undefined` without a valid session.
   * @throws {Unauthorized} if the request does not come from the console
   */
  find(request: Request): ConsoleSession | undefined;
  /**
   * The claims that a token of the session would have.
   * @throws {Unauthorized}
   */
  claimsOf(request: Request): Promise<AccessClaims>;
}

/** Makes the check of the console's cookie. */
export function createConsoleCallers(deps: ConsoleCallerDeps): ConsoleCallers {
  const { issuer, audience, serviceScope } = deps;
  const cookie = consoleCookie(audience);
  const isOwnPage = ownPageCheck(audience);
  const uses = new SessionUses(deps);

  function find(request: Request): ConsoleSession | undefined {
    if (request.header('authorization') !== undefined || !isOwnPage(request)) throw new Unauthorized(false);
    const value = cookie.read(request);
    const found = value === undefined ? undefined : findConsoleSession(deps, value);
    if (!found?.session.scope.split(' ').includes(serviceScope)) return undefined;
    uses.note(found);
    return found;
  }

  async function claimsOf(request: Request): Promise<AccessClaims> {
    const found = find(request);
    if (found === undefined) throw new Unauthorized(true, sessionOver);
    const { key, session, user } = found;
    const { jti, exp } = session.access;
    const { id: sub, role, teams, primaryTeam, email, name } = user;
    return {
      ...{ iss: issuer, aud: audience, jti, exp, iat: Math.floor(session.createdAt / 1000) },
      ...{ sub, client_id: session.clientId, scope: session.scope, sid: key },
      ...{ role, team: [...teams], primaryTeam, email, name },
    };
  }

  return { cookie, find, claimsOf };
}
