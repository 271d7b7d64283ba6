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
/** Minimum interval between two recorded uses. A commit for each use would cost too much. */
const useMs = 60_000;
const incompleteMs = 10 * 60_000;

/** Default authentication of a sign-in that an earlier release recorded without factors. */
export const byPassword: Authentication = { factors: ['password'], userAgent: '' };

export interface CurrentSignIn {
  /** The key of the sign-in in the store. It is not secret. */
  readonly key: string;
  readonly user: User;
  /** The time when the user signed in, seconds. With a provider, this time can be earlier than `startedAt`. */
  readonly authTime: number;
  /** The time when the sign-in began at this service, Unix ms. */
  readonly startedAt: number;
  readonly lastSeenAt: number;
  readonly authentication: Authentication;
  /** The step that the user must complete before a code is issued; `undefined` if the sign-in is complete. */
  readonly missing: MissingStep | undefined;
}

/**
 * Returns the valid sign-in of a browser, and records its use; `undefined` if the browser is not signed in.
 * @throws {Refusal} `store_unavailable`
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
      const last = tx.get('signIns', key); // The sign-in might have ended in the meantime.
      if (last !== undefined) tx.put('signIns', key, { ...last, ...usedAt(signIn.user, signIn.authTime, now) });
    });
  return signIn;
}

/** Finds the valid sign-in with a key. @param now Unix ms */
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

/** Starts the sign-in of a user in a browser with a new id. The sign-in of the browser's previous id ends. */
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

/** True if a sign-in is still valid for its user. A new password ends the sign-in. */
export function isValidFor({ passwordId: signedInWith }: SignIn, { passwordHash }: User): boolean {
  return signedInWith === passwordId(passwordHash);
}

function signInKey({ id }: Browser): string {
  return hashSecret(id);
}

/**
 * The end of a sign-in that was last used at a given time, Unix ms.
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

/** The step that a sign-in still needs; `undefined` if it is complete. */
export function missingStep(
  reader: Pick<Reader, 'get' | 'keys'>,
  user: User,
  authentication: Authentication,
): MissingStep | undefined {
  const lacking = lackingFactor(reader, user, authentication);
  // This check comes first: a password alone must not suffice to change the password of a user with a second factor.
  if (lacking === 'second-factor') return lacking;
  const isTemporary = authentication.factors.includes('password') && hasTemporaryPassword(user);
  return isTemporary ? 'new-password' : lacking;
}

/**
 * Returns the second factor that a sign-in lacks. A second factor is needed if the policy demands one, or the user has
 * an authenticator app. Otherwise the password is enough, even for a user with a passkey.
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

/**
 * True if a sign-in has two factors, for example a passkey with user verification. A provider can be trusted to check
 * two factors itself.
 */
function isTwoFactors({ factors, provider }: Authentication): boolean {
  const single = ['password', 'invitation', ...(provider?.isOneFactor ? ['provider'] : [])];
  return factors.some((factor) => !single.includes(factor));
}
