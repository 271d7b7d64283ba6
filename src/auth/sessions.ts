import type { Accounts } from '../accounts/accounts.ts';
import type { Directory } from '../accounts/directory.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { Draft, Engine, Reader } from '../accounts/store/engine.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Session } from '../storage/lmdb/auth-records.ts';
import type { User } from '../storage/lmdb/records.ts';
import { newTokenIdentity, type TokenIdentity } from './access-token.ts';
import { consoleClientId, findClient, maySignIn } from './clients.ts';
import { addToList } from './invalidation.ts';
import { newRefreshToken, newSessionId, sessionKey } from './refresh-token.ts';
import { signInEndsAt } from './sign-ins.ts';

const dayMs = 24 * 3_600_000;

/** A session ends when its refresh token is not used for this long, */
const idleMs = 30 * dayMs;
/** and in any case this long after it began. */
const lifetimeMs = 90 * dayMs;

/** What sessions are made with. The functions below that take a draft are for plans. */
export interface SessionDeps {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

type Sources = Pick<SessionDeps, 'clock' | 'randomBytes'>;

/** What a session's client gets next: the tokens are made of it once it is on disk. */
export interface Turn {
  /** The session's key. */
  readonly key: string;
  readonly session: Session;
  /** The text of the refresh token that is valid from now on. */
  readonly refreshToken: string;
  /** What the access token is to be. */
  readonly access: TokenIdentity;
}

/** Begins a session. */
export function startSession(
  sources: Sources,
  draft: Draft,
  granted: Pick<Session, 'userId' | 'clientId' | 'signIn' | 'scope' | 'authTime'>,
): Turn {
  const sessionId = newSessionId(sources.randomBytes);
  const { userId, clientId, signIn, scope, authTime } = granted;
  indexSession(draft, userId, sessionKey(sessionId));
  const begun = { userId, clientId, signIn, scope, authTime, createdAt: sources.clock.now() };
  return takeTurn(sources, draft, sessionId, begun);
}

/** Makes a new session one of its user's. */
export function indexSession(draft: Draft, userId: string, key: string): void {
  draft.put('userSessions', userSessionKey(userId, key), true);
}

/** Gives a session its next refresh token; the access token before is invalid from now on. */
export function continueSession(sources: Sources, draft: Draft, sessionId: string, session: Session): Turn {
  invalidateAccess(sources, draft, session);
  return takeTurn(sources, draft, sessionId, session);
}

function takeTurn(
  { clock, randomBytes }: Sources,
  draft: Draft,
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
  draft.put('sessions', key, session);
  return { key, session, refreshToken: refresh.text, access };
}

/** Ends a session with all its tokens. @returns the session as it was; `undefined` when it does not exist */
export function endSession(sources: Pick<Sources, 'clock'>, draft: Draft, key: string): Session | undefined {
  const session = draft.get('sessions', key);
  if (session === undefined) return undefined;
  invalidateAccess(sources, draft, session);
  removeSession(draft, key, session);
  return session;
}

/** Takes a session out of the store, and nothing else. */
export function removeSession(draft: Draft, key: string, { userId }: Session): void {
  draft.remove('sessions', key);
  draft.remove('userSessions', userSessionKey(userId, key));
}

/** Ends a browser's sign-in, and the sessions that came from it. */
export function endSignIn(
  sources: Pick<Sources, 'clock'>,
  draft: Draft,
  userId: string,
  signIn: string,
): void {
  draft.remove('signIns', signIn);
  endSessionsOf(sources, draft, userId, signIn);
}

/** Ends the sessions of a user: all of them, or those that came from one sign-in. */
export function endSessionsOf(
  sources: Pick<Sources, 'clock'>,
  draft: Draft,
  userId: string,
  signIn?: string,
): void {
  for (const key of sessionKeysOf(draft, userId))
    if (signIn === undefined || draft.get('sessions', key)?.signIn === signIn)
      endSession(sources, draft, key);
}

/** The keys of a user's sessions. */
export function sessionKeysOf(reader: Pick<Reader, 'keys'>, userId: string): readonly string[] {
  const start = userSessionKey(userId, '');
  // `~` comes after every digit of a key.
  const entries = reader.keys('userSessions', { start, end: `${start}~` });
  return Array.from(entries, (entry) => entry.slice(start.length));
}

/** The user of a session, while it may go on; `undefined` when its time is over, or the user may not have it any more. */
export function userOf(
  { clock }: Pick<Sources, 'clock'>,
  accounts: Pick<Accounts, 'users' | 'clients'>,
  session: Session,
): User | undefined {
  return clock.now() < endsAt(session) ? signedInUser(accounts, session) : undefined;
}

/** The user, while they exist and may sign in to the client. */
export function signedInUser(
  accounts: Pick<Accounts, 'users' | 'clients'>,
  { userId, clientId }: Pick<Session, 'userId' | 'clientId'>,
): User | undefined {
  const user = accounts.users.get(userId);
  const client = findClient(accounts, clientId);
  return user !== undefined && client !== undefined && maySignIn(user, client) ? user : undefined;
}

/**
 * When a session's time is over, Unix ms, unless it is refreshed before. One of the console ends when the sign-in of its
 * browser would: the cookie lies in that browser, too.
 */
export function endsAt({
  clientId,
  authTime,
  createdAt,
  refreshedAt,
}: Pick<Session, 'clientId' | 'authTime' | 'createdAt' | 'refreshedAt'>): number {
  if (clientId === consoleClientId) return signInEndsAt(refreshedAt, authTime);
  return Math.min(refreshedAt + idleMs, createdAt + lifetimeMs);
}

function invalidateAccess({ clock }: Pick<Sources, 'clock'>, draft: Draft, { access }: Session): void {
  if (access.exp * 1000 > clock.now()) addToList(draft, access);
}

function userSessionKey(userId: string, key: string): string {
  return `${userId}.${key}`;
}
