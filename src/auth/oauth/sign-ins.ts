import type { Accounts } from '../../accounts/accounts.ts';
import { hasTemporaryPassword, passwordId } from '../../accounts/passwords.ts';
import { listSecondFactors } from '../../accounts/second-factors.ts';
import { hashSecret } from '../../accounts/secrets.ts';
import { demandsSecondFactor } from '../../accounts/sign-in-policy.ts';
import type { Reader, Transaction } from '../../accounts/store/account-store.ts';
import type { Authentication, SignIn } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import type { Browser } from '../cookies/browser.ts';
import type { Services } from './services.ts';

const idleMs = 12 * 3_600_000;
export const lifetimeSeconds = 7 * 24 * 3600;
/** The precision of the last use. A commit per use would cost too much. */
const useMs = 60_000;
const incompleteMs = 10 * 60_000;

/** The authentication of a sign-in by an earlier release. */
export const byPassword: Authentication = { factors: ['password'], userAgent: '' };

export interface CurrentSignIn {
  /** Its key in the store, which is not secret. */
  readonly key: string;
  readonly user: User;
  /** When the user signed in, seconds. At a provider, that may have been earlier. */
  readonly authTime: number;
  /** When the browser entered here, Unix ms. */
  readonly startedAt: number;
  readonly lastSeenAt: number;
  readonly authentication: Authentication;
  /** The step that comes before a code; `undefined` if the sign-in is complete. */
  readonly missing: MissingStep | undefined;
}

/**
 * The valid sign-in of a browser, marked as used now; `undefined` if there is none.
 * @throws {ApiError} `store_unavailable`
 */
export async function currentSignIn(
  { accountStore, directory, clock }: Pick<Services, 'accountStore' | 'directory' | 'clock'>,
  browser: Browser | undefined,
): Promise<CurrentSignIn | undefined> {
  if (browser === undefined) return undefined;
  const now = clock.now();
  const key = signInKey(browser);
  const signIn = findSignIn(accountStore, directory, key, now);
  if (signIn !== undefined && now - signIn.lastSeenAt >= useMs)
    await accountStore.change((tx) => {
      const last = tx.get('signIns', key); // The sign-in may have ended since.
      if (last !== undefined) tx.put('signIns', key, { ...last, ...usedAt(signIn.user, signIn.authTime, now) });
    });
  return signIn;
}

/** The valid sign-in with a key. @param now Unix ms */
export function findSignIn(
  reader: Pick<Reader, 'get' | 'keys'>,
  { users }: Pick<Accounts, 'users'>,
  key: string,
  now: number,
): CurrentSignIn | undefined {
  const signIn = reader.get('signIns', key);
  if (signIn === undefined || now >= signIn.expiresAt) return undefined;
  const { authTime, lastSeenAt, startedAt = authTime * 1000, authentication = byPassword } = signIn;
  const user = users.get(signIn.userId);
  if (user === undefined || !isValidFor(signIn, user)) return undefined;
  const missing = missingStep(reader, user, authentication);
  if (missing !== undefined && now >= startedAt + incompleteMs) return undefined;
  return { key, user, authTime, startedAt, lastSeenAt, authentication, missing };
}

/** Drafts the sign-in of a user in a browser, which gets a new id. The previous sign-in ends. */
export function startSignIn(
  tx: Transaction,
  user: User,
  given: {
    readonly before?: Browser | undefined;
    readonly browser: Browser;
    readonly authentication: Authentication;
    /** Seconds; by default now. */
    readonly authTime?: number | undefined;
    readonly now: number;
  },
): CurrentSignIn {
  const { before, browser, authentication, now, authTime = Math.floor(now / 1000) } = given;
  const key = signInKey(browser);
  if (before !== undefined) tx.remove('signIns', signInKey(before));
  const missing = missingStep(tx, user, authentication);
  tx.put('signIns', key, { ...usedAt(user, authTime, now), authentication, startedAt: now });
  return { key, user, authTime, startedAt: now, lastSeenAt: now, authentication, missing };
}

/** Whether a sign-in is still valid for its user. A new password ends it. */
export function isValidFor({ passwordId: signedInWith }: SignIn, { passwordHash }: User): boolean {
  return signedInWith === passwordId(passwordHash);
}

function signInKey({ id }: Browser): string {
  return hashSecret(id);
}

/**
 * When a sign-in last used at a given time ends, Unix ms.
 * @param authTime when the user signed in, seconds
 */
export function signInEndsAt(lastUsedAt: number, authTime: number): number {
  return Math.min(lastUsedAt + idleMs, (authTime + lifetimeSeconds) * 1000);
}

function usedAt({ id: userId, passwordHash }: User, authTime: number, now: number): SignIn {
  const expiresAt = signInEndsAt(now, authTime);
  return { userId, passwordId: passwordId(passwordHash), authTime, lastSeenAt: now, expiresAt };
}

type MissingStep = 'second-factor' | 'new-password' | 'enrolment';

/** What a sign-in still lacks; `undefined` once it is complete. */
export function missingStep(
  reader: Pick<Reader, 'get' | 'keys'>,
  user: User,
  authentication: Authentication,
): MissingStep | undefined {
  const lacking = lackingFactor(reader, user, authentication);
  // A password alone must not change the password of a user who has a second factor.
  if (lacking === 'second-factor') return lacking;
  const isTemporary = authentication.factors.includes('password') && hasTemporaryPassword(user);
  return isTemporary ? 'new-password' : lacking;
}

/**
 * Whether a sign-in needs a second factor: if the policy demands one, or the user has an authenticator app. A passkey alone is
 * another way to sign in, and not asked for after a password.
 */
export function lackingFactor(
  reader: Pick<Reader, 'get' | 'keys'>,
  user: User,
  authentication: Authentication,
): 'second-factor' | 'enrolment' | undefined {
  if (isTwoFactors(authentication)) return undefined;
  const own = listSecondFactors(reader, user.id);
  if (own.includes('totp')) return 'second-factor';
  if (!demandsSecondFactor(reader, user)) return undefined;
  return own.length > 0 ? 'second-factor' : 'enrolment';
}

/** A passkey with user verification counts as two factors, and so does the sign-in at a provider that is trusted with both. */
function isTwoFactors({ factors, provider }: Authentication): boolean {
  const single = ['password', 'invitation', ...(provider?.isOneFactor ? ['provider'] : [])];
  return factors.some((factor) => !single.includes(factor));
}
