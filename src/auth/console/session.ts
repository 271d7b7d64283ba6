import { hashSecret, matchesHash } from '../../accounts/secrets.ts';
import type { Draft } from '../../accounts/store/account-store.ts';
import type { Session } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { consoleClientId } from '../oauth/clients.ts';
import type { Services } from '../oauth/services.ts';
import { indexSession, newSessionId, sessionKey, userOf } from '../oauth/sessions.ts';
import { signInEndsAt } from '../oauth/sign-ins.ts';
import { newTokenIdentity } from '../oauth/tokens.ts';

/*
 * A console session has no tokens. Its cookie takes the place of the refresh token, but is constant for the life of the
 * session. Whatever ends a user's sessions ends console sessions, too.
 */

/** The precision of the last use. A commit per request would cost too much. */
const useMs = 5 * 60_000;

/** Session id and secret: 128 and 256 random bits. */
const form = /^([\w-]{22})\.([\w-]{43})$/;

/** A new session, and the value of its cookie. */
interface BegunSession {
  readonly key: string;
  readonly session: Session;
  readonly cookie: string;
}

/** A valid session, and its user. */
export interface ConsoleSession {
  readonly key: string;
  readonly session: Session;
  readonly user: User;
}

export function beginConsoleSession(
  sources: Pick<Services, 'clock' | 'randomBytes'>,
  draft: Draft,
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
    refreshHash: hashSecret(secretOf(secret)),
    refreshedAt: now,
    // Identifies the session in the invalidation list.
    access: { jti: newTokenIdentity(sources).jti, exp: Math.ceil(signInEndsAt(Infinity, authTime) / 1000) },
  };
  draft.put('sessions', key, session);
  indexSession(draft, userId, key);
  return { key, session, cookie: `${id}.${secret}` };
}

/** The session of a cookie; `undefined` if there is none, or it has ended. */
export function findConsoleSession(
  { accountStore, directory, clock }: Pick<Services, 'accountStore' | 'directory' | 'clock'>,
  cookie: string,
): ConsoleSession | undefined {
  const [, id = '', secret = ''] = form.exec(cookie) ?? [];
  if (id === '') return undefined;
  const key = sessionKey(id);
  const session = accountStore.get('sessions', key);
  if (session?.clientId !== consoleClientId || !matchesHash(secretOf(secret), session.refreshHash))
    return undefined;
  const user = userOf({ clock }, directory, session);
  return user && { key, session, user };
}

/** Records occasionally that a session is in use. An unused session expires. */
export class SessionUses {
  readonly #deps: Pick<Services, 'accountStore' | 'clock'>;
  /** The sessions whose use is being written. */
  readonly #pending = new Set<string>();

  constructor(deps: Pick<Services, 'accountStore' | 'clock'>) {
    this.#deps = deps;
  }

  /** Writes the use in the background. If that fails, a later use is written instead. */
  note({ key, session }: ConsoleSession): void {
    const { accountStore, clock } = this.#deps;
    const now = clock.now();
    if (now - session.refreshedAt < useMs || this.#pending.has(key)) return;
    this.#pending.add(key);
    const written = accountStore.change((draft) => {
      const current = draft.get('sessions', key); // The session may have ended since.
      if (current !== undefined) draft.put('sessions', key, { ...current, refreshedAt: now });
    });
    void written.catch(() => {}).finally(() => this.#pending.delete(key));
  }
}

/** The hashed text. A refresh token is hashed without the prefix, so neither can pass for the other. */
function secretOf(secret: string): string {
  return `console.${secret}`;
}
