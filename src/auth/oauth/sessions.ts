import { type AccountTransaction, findActor } from '../../accounts/account-transaction.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { hashSecret, matchesHash, type RandomBytes } from '../../accounts/secrets.ts';
import type { Reader, Transaction } from '../../accounts/store/account-store.ts';
import type { Session } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { consoleClientId, signedInUser } from './clients.ts';
import type { Services } from './services.ts';
import { lifetimeSeconds, signInEndsAt } from './sign-ins.ts';
import { addToList, newTokenIdentity, type TokenIdentity } from './tokens.ts';

const dayMs = 24 * 3_600_000;

/** Idle lifetime of a session: the maximum time between two uses of its refresh tokens. */
const idleMs = 30 * dayMs;
const lifetimeMs = 90 * dayMs;
/** Maximum time from a sign-in to the end of its last session. */
export const longestSessionMs = lifetimeSeconds * 1000 + lifetimeMs;

type Sources = Pick<Services, 'clock' | 'randomBytes'>;

/** The new state of a session. Its tokens are signed after the state is on disk. */
export interface IssuedSession {
  readonly key: string;
  readonly session: Session;
  readonly refreshToken: string;
  readonly access: TokenIdentity;
}

export function startSession(
  sources: Sources,
  tx: Transaction,
  granted: Pick<Session, 'userId' | 'clientId' | 'signIn' | 'scope' | 'authTime' | 'authentication'>,
): IssuedSession {
  const sessionId = newSessionId(sources.randomBytes);
  const { userId, clientId, signIn, scope, authTime, authentication } = granted;
  indexSession(tx, userId, sessionKey(sessionId));
  const begun = {
    userId,
    clientId,
    signIn,
    scope,
    authTime,
    createdAt: sources.clock.now(),
    ...(authentication !== undefined && { authentication }),
  };
  return rotateTokens(sources, tx, sessionId, begun);
}

/** Adds a session to the index of its user's sessions. */
export function indexSession(tx: Transaction, userId: string, key: string): void {
  tx.put('userSessions', userSessionKey(userId, key), true);
}

/** Creates the next refresh token of a session. The previous access token becomes invalid. */
export function continueSession(sources: Sources, tx: Transaction, sessionId: string, session: Session): IssuedSession {
  invalidateAccess(sources, tx, session);
  return rotateTokens(sources, tx, sessionId, session);
}

function rotateTokens(
  { clock, randomBytes }: Sources,
  tx: Transaction,
  sessionId: string,
  begun: Omit<Session, 'refreshHash' | 'refreshedAt' | 'access'>,
): IssuedSession {
  const key = sessionKey(sessionId);
  const refresh = newRefreshToken(sessionId, randomBytes);
  const access = newTokenIdentity({ clock, randomBytes });
  const session: Session = {
    ...begun,
    refreshHash: refresh.hash,
    refreshedAt: clock.now(),
    access: { jti: access.jti, exp: access.exp },
  };
  tx.put('sessions', key, session);
  return { key, session, refreshToken: refresh.text, access };
}

/**
 * Ends a session with all its tokens.
 * @returns the ended session; `undefined` if it does not exist
 */
export function endSession(sources: Pick<Sources, 'clock'>, tx: Transaction, key: string): Session | undefined {
  const session = tx.get('sessions', key);
  if (session === undefined) return undefined;
  invalidateAccess(sources, tx, session);
  removeSession(tx, key, session);
  return session;
}

/** Removes the records of a session, but does not invalidate its access token. */
export function removeSession(tx: Transaction, key: string, { userId }: Session): void {
  tx.remove('sessions', key);
  tx.remove('userSessions', userSessionKey(userId, key));
}

/** Ends a browser's sign-in and the sessions that came from it. */
export function endSignIn(sources: Pick<Sources, 'clock'>, tx: Transaction, userId: string, signIn: string): void {
  tx.remove('signIns', signIn);
  endUserSessions(sources, tx, userId, signIn);
}

/** Ends all sessions of a user, or only the sessions from one sign-in. */
export function endUserSessions(
  sources: Pick<Sources, 'clock'>,
  tx: Transaction,
  userId: string,
  signIn?: string,
): void {
  for (const key of listSessionKeys(tx, userId))
    if (signIn === undefined || tx.get('sessions', key)?.signIn === signIn) endSession(sources, tx, key);
}

export function listSessionKeys(reader: Pick<Reader, 'keys'>, userId: string): readonly string[] {
  const start = userSessionKey(userId, '');
  // `~` sorts after all characters of a key, so the range contains all sessions.
  const entries = reader.keys('userSessions', { start, end: `${start}~` });
  return Array.from(entries, (entry) => entry.slice(start.length));
}

/** The user of a valid session; `undefined` if it has expired, or the user has lost access to the client. */
export function findSessionUser(
  { clock }: Pick<Sources, 'clock'>,
  accounts: Pick<Accounts, 'users' | 'clients'>,
  session: Session,
): User | undefined {
  return clock.now() < endsAt(session) ? signedInUser(accounts, session) : undefined;
}

/**
 * The time when a session expires unless refreshed, Unix ms. The cookie of a console session is in a browser, so the
 * session expires by the same rule as the browser's sign-in.
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

function invalidateAccess({ clock }: Pick<Sources, 'clock'>, tx: Transaction, { access }: Session): void {
  if (access.exp * 1000 > clock.now()) addToList(tx, access);
}

function userSessionKey(userId: string, key: string): string {
  return `${userId}.${key}`;
}

/** Records in the audit log that the reuse of a code or refresh token has ended its session. */
export function noteReuse(
  tx: AccountTransaction,
  action: 'authorization-code.reused' | 'refresh-token.reused',
  userId: string,
): void {
  const { email: name = '', teams = [null] } = tx.users.get(userId) ?? {};
  for (const teamId of teams) tx.note(action, teamId, { type: 'user', id: userId, name });
}

export function noteEnd(tx: AccountTransaction, action: 'token.invalidated' | 'session.ended', holderId: string): void {
  const { type, id, name } = findActor(tx, holderId, '');
  const teams = tx.users.get(id)?.teams ?? [tx.apiKeys.get(id)?.teamId ?? null];
  for (const teamId of teams) tx.note(action, teamId, { type, id, name });
}

interface RefreshToken {
  readonly session: string;
  readonly secret: string;
}

/** Form of a refresh token: session id and secret, 128 and 256 random bits. */
const form = /^fm_refresh_([\w-]{22})\.([\w-]{43})$/;

/** Creates a session id. Only refresh tokens or the session cookie contain the id; the store has only its hash. */
export function newSessionId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('base64url');
}

export function sessionKey(sessionId: string): string {
  return hashSecret(sessionId);
}

/** Creates a refresh token of a session, and the hash of its secret, which the session keeps. */
function newRefreshToken(
  sessionId: string,
  randomBytes: RandomBytes,
): { readonly text: string; readonly hash: string } {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  return { text: `fm_refresh_${sessionId}.${secret}`, hash: hashSecret(secret) };
}

/** Parses a refresh token; `undefined` if malformed. */
export function readRefreshToken(text: string): (RefreshToken & { readonly sessionId: string }) | undefined {
  const [, sessionId, secret] = form.exec(text) ?? [];
  if (sessionId === undefined || secret === undefined) return undefined;
  return { sessionId, session: sessionKey(sessionId), secret };
}

/** True if a token is the latest refresh token of its session. Any other token was already used, or is forged. */
export function isCurrent({ secret }: RefreshToken, { refreshHash }: Session): boolean {
  return matchesHash(secret, refreshHash);
}
