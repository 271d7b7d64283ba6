import { cookiesOf } from '../../http/pairs.ts';
import type { Request } from '../../http/types.ts';
import { hostCookie } from '../cookies/host-cookie.ts';
import type { Services } from '../oauth/services.ts';
import { lifetimeSeconds } from '../oauth/sign-ins.ts';
import type { AccessClaims } from '../oauth/tokens.ts';
import { Unauthorized } from '../oauth/validation.ts';
import { type ConsoleSession, findConsoleSession, SessionUses } from './session.ts';

const sessionOver = 'The session has ended: sign in again';

/** Authenticates callers from the console. Its cookie counts only in requests that its own pages send without a token. */
export interface ConsoleCallers {
  readonly cookie: ConsoleCookie;
  /**
   * The session of a request's cookie, marked as used now; `undefined` without a valid session.
   * @throws {Unauthorized} if the request does not come from the console
   */
  find(request: Request): ConsoleSession | undefined;
  /** The key of the session whose cookie a browser sends when it signs in, if any. */
  previous(request: Request): string | undefined;
  /**
   * The claims that a token of the session would have.
   * @throws {Unauthorized}
   */
  claimsOf(request: Request): Promise<AccessClaims>;
}

/** Makes the check of the console's cookie. */
export function createConsoleCallers(deps: Services): ConsoleCallers {
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
      iss: issuer,
      aud: audience,
      jti,
      exp,
      iat: Math.floor(session.createdAt / 1000),
      sub,
      client_id: session.clientId,
      scope: session.scope,
      sid: key,
      role,
      team: [...teams],
      primaryTeam,
      email,
      name,
    };
  }

  function previous(request: Request): string | undefined {
    const value = cookie.read(request);
    return value === undefined ? undefined : findConsoleSession(deps, value)?.key;
  }

  return { cookie, find, previous, claimsOf };
}

/** The cookie of the console's session. */
interface ConsoleCookie {
  /** The value in a request; `undefined` if missing, or if there are two, because one of them was planted. */
  read(request: Pick<Request, 'header'>): string | undefined;
  /** The value of `Set-Cookie`. */
  write(value: string): string;
  readonly removal: string;
}

/** @param baseUrl the public URL of the base host */
function consoleCookie(baseUrl: string): ConsoleCookie {
  const { name, write, removal } = hostCookie(baseUrl, 'flagmeter-console', 'Strict');
  return {
    read(request) {
      const values = Array.from(cookiesOf(request)).filter(([sent]) => sent === name);
      return values.length === 1 ? values[0]![1] : undefined;
    },
    write: (value) => write(value, lifetimeSeconds),
    removal,
  };
}

/** The header that marks requests of the console. No form can send it, and no preflight ever allows it. */
const consoleHeader = 'flagmeter-console';

/**
 * Makes the check that a request comes from a page of the console. Only then does its cookie count (RFC 10017 §6.1.3.3).
 * Browsers report this in `Sec-Fetch-Site`, which no page can set. Over plain HTTP they omit it, except to loopback. There, the
 * check relies on the console's own header, and on `Origin` if present.
 * @param baseUrl the public URL of the base host
 */
export function ownPageCheck(baseUrl: string): (request: Pick<Request, 'header'>) => boolean {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isTold = protocol === 'https:' || isLoopback(hostname);
  return (request) => {
    if (request.header(consoleHeader) !== '1') return false;
    const site = request.header('sec-fetch-site');
    if (site !== undefined || isTold) return site === 'same-origin';
    const from = request.header('origin');
    return from === undefined || from === origin;
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || /^127(\.\d+){3}$|^(.+\.)?localhost$/.test(hostname);
}
