import { hashSecret, matchesHash } from '../accounts/secrets.ts';
import type { Transaction } from '../accounts/store/account-store.ts';
import { readCookies } from '../http/pairs.ts';
import type { Request } from '../http/types.ts';
import type { Session } from '../storage/lmdb/auth-records.ts';
import type { User } from '../storage/lmdb/records.ts';
import { type HostCookie, hostCookie } from './cookies/host-cookie.ts';
import { consoleClientId } from './oauth/clients.ts';
import type { Services } from './oauth/services.ts';
import { findSessionUser, indexSession, newSessionId, sessionKey } from './oauth/sessions.ts';
import { lifetimeSeconds, signInEndsAt } from './oauth/sign-ins.ts';
import { type AccessClaims, newTokenIdentity } from './oauth/tokens.ts';
import { UnauthorizedError } from './oauth/validation.ts';

const sessionOver = 'The session has ended: sign in again';

/** Authenticates callers from the console. Only our own pages may send the cookie, and only without a token. */
export class ConsoleCallers {
  readonly #services: Services;
  readonly #cookie: HostCookie;
  readonly #isOwnPage: ReturnType<typeof ownPageCheck>;
  /** Keys of the sessions whose last use is being written. */
  readonly #pending = new Set<string>();

  constructor(services: Services) {
    this.#services = services;
    this.#cookie = hostCookie(services.audience, 'flagmeter-console', 'Strict');
    this.#isOwnPage = ownPageCheck(services.audience);
  }

  /** The value of `Set-Cookie` that starts a session. */
  writeCookie(value: string): string {
    return this.#cookie.write(value, lifetimeSeconds);
  }

  /** The value of `Set-Cookie` that removes the cookie. */
  get removal(): string {
    return this.#cookie.removal;
  }

  /**
   * Returns the session of a request's cookie, and records its use. Returns `undefined` if the session is not valid.
   * @throws {UnauthorizedError} if the request does not come from the console
   */
  find(request: Request): ConsoleSession | undefined {
    if (request.header('authorization') !== undefined || !this.#isOwnPage(request)) throw new UnauthorizedError(false);
    const found = this.#read(request);
    if (!found?.session.scope.split(' ').includes(this.#services.serviceScope)) return undefined;
    this.#noteUse(found);
    return found;
  }

  /** The key of the browser's earlier session, found by the cookie of the request; `undefined` without a session. */
  previous(request: Request): string | undefined {
    return this.#read(request)?.key;
  }

  /**
   * The claims that a token of the session would have.
   * @throws {UnauthorizedError}
   */
  async readClaims(request: Request): Promise<AccessClaims> {
    const found = this.find(request);
    if (found === undefined) throw new UnauthorizedError(true, sessionOver);
    const { key, session, user } = found;
    const { jti, exp } = session.access;
    const { id: sub, role, teams, primaryTeam, email, name } = user;
    return {
      iss: this.#services.issuer,
      aud: this.#services.audience,
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

  /**
   * Reads the session of the cookie; `undefined` if invalid. Two cookies are invalid, because one of them might be from
   * an attacker.
   */
  #read(request: Request): ConsoleSession | undefined {
    const { accountStore, directory } = this.#services;
    const values = Array.from(readCookies(request)).filter(([sent]) => sent === this.#cookie.name);
    const [, id = '', secret = ''] = values.length === 1 ? (form.exec(values[0]![1]) ?? []) : [];
    if (id === '') return undefined;
    const key = sessionKey(id);
    const session = accountStore.get('sessions', key);
    if (session?.clientId !== consoleClientId || !matchesHash(prefixSecret(secret), session.refreshHash))
      return undefined;
    const user = findSessionUser(this.#services, directory, session);
    return user && { key, session, user };
  }

  /** Records the last use in the background. If it fails, the next use is recorded instead. */
  #noteUse({ key, session }: ConsoleSession): void {
    const { accountStore, clock } = this.#services;
    const now = clock.now();
    if (now - session.refreshedAt < useMs || this.#pending.has(key)) return;
    this.#pending.add(key);
    const written = accountStore.change((tx) => {
      const current = tx.get('sessions', key); // The session might have ended in the meantime.
      if (current !== undefined) tx.put('sessions', key, { ...current, refreshedAt: now });
    });
    void written.catch(() => {}).finally(() => this.#pending.delete(key));
  }
}

/** The header that marks requests of the console. No form can send it, and no CORS preflight allows it. */
const consoleHeader = 'flagmeter-console';

/**
 * Creates the check that a request comes from a page of the console. The cookie of any other request is ignored (RFC
 * 10017 §6.1.3.3). Browsers report the site of the page in `Sec-Fetch-Site`, which no page can set. Over plain HTTP,
 * they report it only to loopback addresses. For other plain HTTP URLs, the check uses the console's own header, and
 * `Origin` if present.
 * @param baseUrl the public URL of the base host, which serves the console
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

/*
 * A console session has no tokens. Its cookie replaces the refresh token, but does not change during the session. A
 * change that ends the sessions of a user also ends the console sessions.
 */

/** Minimum interval between two recorded uses. A commit for each request would cost too much. */
const useMs = 5 * 60_000;

/** Form of a cookie: session id and secret, 128 and 256 random bits. */
const form = /^([\w-]{22})\.([\w-]{43})$/;

interface BegunSession {
  readonly key: string;
  readonly session: Session;
  readonly cookie: string;
}

export interface ConsoleSession {
  readonly key: string;
  readonly session: Session;
  readonly user: User;
}

export function beginConsoleSession(
  sources: Pick<Services, 'clock' | 'randomBytes'>,
  tx: Transaction,
  granted: Pick<Session, 'userId' | 'signIn' | 'scope' | 'authTime' | 'authentication'>,
): BegunSession {
  const { userId, signIn, scope, authTime, authentication } = granted;
  const id = newSessionId(sources.randomBytes);
  const secret = Buffer.from(sources.randomBytes(32)).toString('base64url');
  const key = sessionKey(id);
  const now = sources.clock.now();
  const session: Session = {
    userId,
    clientId: consoleClientId,
    signIn,
    scope,
    authTime,
    ...(authentication !== undefined && { authentication }),
    createdAt: now,
    refreshHash: hashSecret(prefixSecret(secret)),
    refreshedAt: now,
    // An id that no token has. In the list of invalidated tokens, it identifies the session.
    access: { jti: newTokenIdentity(sources).jti, exp: Math.ceil(signInEndsAt(Infinity, authTime) / 1000) },
  };
  tx.put('sessions', key, session);
  indexSession(tx, userId, key);
  return { key, session, cookie: `${id}.${secret}` };
}

/**
 * Adds a prefix to the secret of a cookie before it is hashed. Refresh tokens have no such prefix, so neither secret
 * can replace the other.
 */
function prefixSecret(secret: string): string {
  return `console.${secret}`;
}
