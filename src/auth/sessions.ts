import type { Directory } from '../accounts/directory.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { Session } from '../store/auth-records.ts';
import type { User } from '../store/records.ts';
import type { Health } from '../store/transact.ts';
import { newTokenIdentity, type TokenIdentity } from './access-token.ts';
import { findClient, maySignIn } from './clients.ts';
import type { InvalidationList } from './invalidation.ts';
import { newRefreshToken, newSessionId, sessionKey } from './refresh-token.ts';

const dayMs = 24 * 3_600_000;

/** A session ends when its refresh token was not used for so long, */
const idleMs = 30 * dayMs;
/** and so long after it began, whatever happens. */
const lifetimeMs = 90 * dayMs;

/** What sessions are kept with. The functions below are to be called inside a transaction of `accounts`. */
export interface SessionDeps {
  readonly accounts: AccountStore;
  readonly health: Health;
  readonly directory: Directory;
  readonly invalidation: InvalidationList;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** What a session's client gets next: the tokens are made of it once it is on disk. */
export interface Turn {
  /** The session's key. */
  readonly key: string;
  readonly session: Session;
  /** The text of the refresh token that is good from now on. */
  readonly refreshToken: string;
  /** What the access token is to be. */
  readonly access: TokenIdentity;
}

/** Begins a session. */
export function startSession(
  parts: SessionDeps,
  granted: Pick<Session, 'userId' | 'clientId' | 'signIn' | 'scope' | 'authTime'>,
): Turn {
  const sessionId = newSessionId(parts.randomBytes);
  const key = sessionKey(sessionId);
  const { userId, clientId, signIn, scope, authTime } = granted;
  parts.accounts.userSessions.putSync(userSessionKey(userId, key), true);
  const begun = { userId, clientId, signIn, scope, authTime, createdAt: parts.clock.now() };
  return takeTurn(parts, sessionId, begun);
}

/** Gives a session its next refresh token; the access token before is invalid from now on. */
export function continueSession(parts: SessionDeps, sessionId: string, session: Session): Turn {
  invalidateAccess(parts, session);
  return takeTurn(parts, sessionId, session);
}

function takeTurn(
  { accounts, clock, randomBytes }: SessionDeps,
  sessionId: string,
  begun: Omit<Session, 'refreshHash' | 'refreshedAt' | 'access'>,
): Turn {
  const key = sessionKey(sessionId);
  const refresh = newRefreshToken(sessionId, randomBytes);
  const access = newTokenIdentity({ clock, randomBytes });
  const session: Session = {
    ...begun,
    refreshHash: refresh.hash,
    refreshedAt: clock.now(),
    access: { jti: access.jti, exp: access.exp },
  };
  accounts.sessions.putSync(key, session);
  return { key, session, refreshToken: refresh.text, access };
}

/** Ends a session with all its tokens; gives it as it was, or `undefined` when there is none. */
export function endSession(parts: SessionDeps, key: string): Session | undefined {
  const session = parts.accounts.sessions.get(key);
  if (session === undefined) return undefined;
  invalidateAccess(parts, session);
  removeSession(parts.accounts, key, session);
  return session;
}

/** Takes a session out of the store, and nothing else. */
export function removeSession(accounts: AccountStore, key: string, { userId }: Session): void {
  accounts.sessions.removeSync(key);
  accounts.userSessions.removeSync(userSessionKey(userId, key));
}

/** Ends a browser's sign-in, and the sessions that came from it. */
export function endSignIn(parts: SessionDeps, userId: string, signIn: string): void {
  parts.accounts.signIns.removeSync(signIn);
  endSessionsOf(parts, userId, signIn);
}

/** Ends the sessions of a user: all of them, or those that came from one sign-in. */
export function endSessionsOf(parts: SessionDeps, userId: string, signIn?: string): void {
  const { sessions, userSessions } = parts.accounts;
  const beginning = userSessionKey(userId, '');
  // `~` comes after every digit of a key.
  for (const entry of [...userSessions.getKeys({ start: beginning, end: `${beginning}~` })]) {
    const key = entry.slice(beginning.length);
    if (signIn === undefined || sessions.get(key)?.signIn === signIn) endSession(parts, key);
  }
}

/** The user of a session, while it may go on; `undefined` when its time is over, or he may not have it any more. */
export function userOf({ directory, clock }: SessionDeps, session: Session): User | undefined {
  return clock.now() < endsAt(session) ? signedInUser(directory, session) : undefined;
}

/** The user, while he exists and may sign in to the client. */
export function signedInUser(
  directory: Pick<Directory, 'users' | 'clients'>,
  { userId, clientId }: Pick<Session, 'userId' | 'clientId'>,
): User | undefined {
  const user = directory.users.get(userId);
  const client = findClient(directory, clientId);
  return user !== undefined && client !== undefined && maySignIn(user, client) ? user : undefined;
}

/** When a session's time is over, Unix ms, unless it is refreshed before. */
export function endsAt({ createdAt, refreshedAt }: Pick<Session, 'createdAt' | 'refreshedAt'>): number {
  return Math.min(refreshedAt + idleMs, createdAt + lifetimeMs);
}

function invalidateAccess({ invalidation, clock }: SessionDeps, { access }: Session): void {
  if (access.exp * 1000 > clock.now()) invalidation.add(access);
}

function userSessionKey(userId: string, key: string): string {
  return `${userId}.${key}`;
}
