import { createHash, timingSafeEqual } from 'node:crypto';
import { hashSecret, type RandomBytes } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { AuthorizationCode } from '../store/auth-records.ts';
import type { User } from '../store/records.ts';
import { commit, type Health } from '../store/transact.ts';
import { endSession, type SessionDeps, signedInUser, startSession, type Turn } from './sessions.ts';
import { isOf } from './sign-ins.ts';

/** How long a code can be exchanged (RFC 6749 §4.1.2 recommends no more than ten minutes). */
const codeLifetimeMs = 60_000;
/** How long a code that was exchanged is remembered, so that a replay ends what it gave. */
const usedCodeLifetimeMs = 3_600_000;

/** What authorization codes are kept with. */
export interface CodeDeps {
  readonly accounts: AccountStore;
  readonly health: Health;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Makes an authorization code, on disk before this returns: 256 random bits, to be exchanged once within a minute.
 * @param granted what was asked for and who signed in; `redirectUri` exactly as it was sent
 * @throws {ApiError} `store_unavailable`
 */
export function issueCode(
  { accounts, health, clock, randomBytes }: CodeDeps,
  granted: Omit<AuthorizationCode, 'expiresAt' | 'session'>,
): string {
  const code = Buffer.from(randomBytes(32)).toString('base64url');
  const { clientId, redirectUri, challenge, userId, signIn, scope, nonce, authTime } = granted;
  const record: AuthorizationCode = {
    ...{ clientId, redirectUri, challenge, userId, signIn, scope, nonce, authTime },
    expiresAt: clock.now() + codeLifetimeMs,
    session: null,
  };
  commit(accounts.lmdb, health, () => accounts.codes.putSync(hashSecret(code), record));
  return code;
}

/** A code as a client brings it (RFC 6749 §4.1.3, RFC 7636 §4.5). */
export interface PresentedCode {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

/** What became of a code: exchanged for a session, refused, or replayed, which has ended the session that it gave. */
export type Redemption =
  | {
      readonly outcome: 'exchanged';
      readonly turn: Turn;
      readonly user: User;
      readonly nonce: string | null;
    }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'replayed'; readonly userId: string };

const refused: Redemption = { outcome: 'refused' };

/**
 * Exchanges a code for a session, on disk before this returns. Of two that bring the same code at once one gets it.
 * @throws {ApiError} `store_unavailable`
 */
export function redeemCode(parts: SessionDeps, presented: PresentedCode): Redemption {
  const { accounts, health, clock } = parts;
  const key = hashSecret(presented.code);
  return commit(accounts.lmdb, health, () => {
    const code = accounts.codes.get(key);
    if (code === undefined || clock.now() >= code.expiresAt) return refused;
    if (code.session !== null) {
      const ended = endSession(parts, code.session);
      return ended === undefined ? refused : { outcome: 'replayed', userId: code.userId };
    }
    const user = signedInUser(parts.directory, code);
    const signIn = accounts.signIns.get(code.signIn);
    // Who has signed out since, or has another password, gets no session any more.
    if (user === undefined || signIn === undefined || !isOf(signIn, user)) return refused;
    if (!isBoundTo(code, presented)) return refused;
    const turn = startSession(parts, code);
    const expiresAt = clock.now() + usedCodeLifetimeMs;
    accounts.codes.putSync(key, { ...code, expiresAt, session: turn.key });
    return { outcome: 'exchanged', turn, user, nonce: code.nonce };
  });
}

/** A code is for one client, one redirect URI, and whoever knows the verifier of its challenge. */
function isBoundTo(code: AuthorizationCode, { clientId, redirectUri, verifier }: PresentedCode): boolean {
  return code.clientId === clientId && code.redirectUri === redirectUri && answers(verifier, code.challenge);
}

/** RFC 7636 §4.6, method S256; in a time that does not depend on where they differ. */
function answers(verifier: string, challenge: string): boolean {
  const found = createHash('sha256').update(verifier).digest();
  const wanted = Buffer.from(challenge, 'base64url');
  return found.length === wanted.length && timingSafeEqual(found, wanted);
}
