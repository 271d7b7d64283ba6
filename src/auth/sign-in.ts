import type { AccountDraft } from '../accounts/account-draft.ts';
import type { Directory } from '../accounts/directory.ts';
import type { PasswordPool } from '../accounts/password-pool.ts';
import { noPasswordHash } from '../accounts/passwords.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import { userOfEmail } from '../accounts/users.ts';
import type { AuditAction } from '../contract/audit.ts';
import { ApiError } from '../contract/errors.ts';
import type { OAuthClient, User } from '../storage/lmdb/records.ts';
import { type Browser, renewBrowser } from './browser.ts';
import { maySignIn } from './clients.ts';
import {
  type Attempt,
  countAttempt,
  forgiveAttempt,
  type ThrottleDeps,
  verifyCounted,
} from './login-throttle.ts';
import { type CurrentSignIn, type SignInDeps, startSignIn } from './sign-ins.ts';

export interface SignInSettings extends ThrottleDeps, SignInDeps {
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly passwords: PasswordPool;
  readonly randomBytes: RandomBytes;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The address of the peer. */
  readonly address: string;
  readonly browser: Browser;
}

/** The outcome. An unknown account and a wrong password are indistinguishable. */
export type SignInResult =
  | { readonly outcome: 'signed-in'; readonly browser: Browser; readonly signIn: CurrentSignIn }
  | { readonly outcome: 'wrong' }
  /** The user may not use this client. */
  | { readonly outcome: 'not-a-member' }
  /** Too many attempts have failed; `wait` in seconds. */
  | { readonly outcome: 'throttled'; readonly wait: number };

/**
 * Signs a user in; resolves when all of it is on disk: the failure count, the sign-in and the audit log entry.
 * @throws {ApiError} `backpressure`, `store_unavailable`
 */
export async function signIn(
  settings: SignInSettings,
  credentials: Credentials,
  client: OAuthClient,
): Promise<SignInResult> {
  const { directory, passwords } = settings;
  const { email, password, address, browser } = credentials;
  const attempt = { email, address, browser };
  passwords.checkRoom(); // First: an attempt that will not be checked must not count or use disk space.
  const counted = await countAttempt(settings, attempt);
  if (counted.wait > 0) return { outcome: 'throttled', wait: counted.wait };
  const known = userOfEmail(directory, email);
  const isRight = await verifyCounted(settings, counted, () =>
    passwords.verify(password, known?.passwordHash ?? noPasswordHash),
  );
  const result = isRight && known && (await startFor(settings, known, { attempt, client }));
  if (result) {
    await forgiveAttempt(settings, attempt, counted);
    return result;
  }
  await directory.under({ address }).change((draft) => {
    note(draft, 'sign-in.failed', known && draft.users.get(known.id));
  });
  return { outcome: 'wrong' };
}

/** Signs in a user whose password was correct; `undefined` if the user or the password has changed since the check. */
function startFor(
  { directory, clock, randomBytes }: SignInSettings,
  known: User,
  { attempt, client }: { attempt: Attempt; client: OAuthClient },
): Promise<SignInResult | undefined> {
  return directory.under({ id: known.id, address: attempt.address }).change((draft) => {
    const user = draft.users.get(known.id);
    if (user?.passwordHash !== known.passwordHash) return undefined;
    const now = clock.now();
    if (!maySignIn(user, client)) {
      note(draft, 'sign-in.refused', user);
      return { outcome: 'not-a-member' };
    }
    const { browser: before } = attempt;
    const browser = renewBrowser(before, randomBytes);
    const signIn = startSignIn(draft, user, { before, browser, now });
    note(draft, 'sign-in.succeeded', user);
    return { outcome: 'signed-in', browser, signIn };
  });
}

/**
 * An attempt at an unknown account is recorded, too, which takes equally long. The typed address is not: it may be a password.
 */
function note(draft: AccountDraft, action: AuditAction, user: User | undefined): void {
  const { id, email: name, teams } = user ?? { id: '', email: '', teams: [null] };
  for (const teamId of teams) draft.note(action, teamId, { type: 'user', id, name });
}

/** Takes the place of a browser's mark for the holder of a token. No cookie can contain such a mark. */
const tokenHolder = { id: '', mark: 'token' };

/**
 * Whether the holder of a user's token also knows the user's password. Guesses are throttled as at the sign-in page, where they
 * lock out no known browser.
 * @param address the address of the peer
 * @throws {ApiError} `rate_limited`, `backpressure`, `store_unavailable`
 */
export async function provePassword(
  settings: ThrottleDeps & { readonly passwords: PasswordPool },
  { id, email, passwordHash }: User,
  password: string,
  address: string,
): Promise<boolean> {
  const { passwords } = settings;
  passwords.checkRoom(id); // First: an attempt that will not be checked must not count.
  const attempt = { email, address, browser: tokenHolder };
  const counted = await countAttempt(settings, attempt);
  if (counted.wait > 0)
    throw new ApiError('rate_limited', 'Too many wrong passwords for this user', counted.wait);
  const isRight = await verifyCounted(settings, counted, () => passwords.verify(password, passwordHash, id));
  if (isRight) await forgiveAttempt(settings, attempt, counted);
  return isRight;
}
