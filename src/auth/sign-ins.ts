import type { Directory } from '../accounts/directory.ts';
import { hashSecret } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { SignIn } from '../store/auth-records.ts';
import type { User } from '../store/records.ts';
import { commit, type Health } from '../store/transact.ts';
import type { Browser } from './browser.ts';

/** A sign-in is over when it was not used for so long, */
const idleMs = 12 * 3_600_000;
/** and so long after it began, whatever happens. */
const lifetimeMs = 7 * 24 * 3_600_000;
/** Its last use is written down this exactly: not every use is worth a commit. */
const useMs = 60_000;

/** What sign-ins are kept with. */
export interface SignInDeps {
  readonly accounts: Pick<AccountStore, 'lmdb' | 'signIns'>;
  readonly directory: Pick<Directory, 'users'>;
  readonly health: Health;
  readonly clock: Clock;
}

/** A sign-in that is good now. */
export interface CurrentSignIn {
  /** Its key in the store, which is no secret. */
  readonly key: string;
  readonly user: User;
  /** When the user proved who he is, seconds. */
  readonly authTime: number;
}

/** The sign-in of a browser, which is used by this; `undefined` when there is none, or it is over. @throws {ApiError} `store_unavailable` */
export function currentSignIn(parts: SignInDeps, browser: Browser | undefined): CurrentSignIn | undefined {
  if (browser === undefined) return undefined;
  const { accounts, directory, health, clock } = parts;
  const now = clock.now();
  const key = signInKey(browser);
  accounts.signIns.resetReadTxn(); // What another request has just ended is not to be seen any more.
  const signIn = accounts.signIns.get(key);
  if (signIn === undefined || now >= signIn.expiresAt) return undefined;
  const { authTime } = signIn;
  const user = directory.users.get(signIn.userId);
  if (user === undefined || !isOf(signIn, user)) return undefined;
  if (now - signIn.lastSeenAt >= useMs) {
    const used = signInOf(user, authTime, now);
    commit(accounts.lmdb, health, () => accounts.signIns.putSync(key, used));
  }
  return { key, user, authTime };
}

/**
 * Keeps that a user has signed in with a browser, which has a new id for it; the sign-in before is over. To be called
 * inside a transaction of `accounts`.
 */
export function startSignIn(
  { accounts, clock }: SignInDeps,
  user: User,
  before: Browser | undefined,
  browser: Browser,
): CurrentSignIn {
  const now = clock.now();
  const key = signInKey(browser);
  const authTime = Math.floor(now / 1000);
  if (before !== undefined) accounts.signIns.removeSync(signInKey(before));
  accounts.signIns.putSync(key, signInOf(user, authTime, now));
  return { key, user, authTime };
}

/** Whether a sign-in is still good for its user: a new password ends it. */
export function isOf({ passwordId }: SignIn, { passwordHash }: User): boolean {
  return passwordId === hashSecret(passwordHash);
}

/** The key of a browser's sign-in, whether there is one or not. */
export function signInKey({ id }: Browser): string {
  return hashSecret(id);
}

/** A sign-in as it is after a use at `now`. */
function signInOf({ id: userId, passwordHash }: User, authTime: number, now: number): SignIn {
  const expiresAt = Math.min(now + idleMs, authTime * 1000 + lifetimeMs);
  return { userId, passwordId: hashSecret(passwordHash), authTime, lastSeenAt: now, expiresAt };
}
