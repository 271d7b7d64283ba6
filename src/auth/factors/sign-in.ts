/*
 * src/auth/factors checks the factors of a sign-in: sign-in.ts a password, second-factor.ts a code of an app or a
 * recovery code, and the folder passkeys a passkey (WebAuthn). login-throttle.ts counts failures of all factors.
 */
import type { PasswordPool } from '../../accounts/password-pool.ts';
import { noPasswordHash } from '../../accounts/passwords.ts';
import { mayUsePassword } from '../../accounts/sign-in-policy.ts';
import { userOfEmail } from '../../accounts/users.ts';
import { Refusal } from '../../contract/errors.ts';
import type { OAuthClient, User } from '../../storage/lmdb/records.ts';
import type { Browser } from '../cookies/browser.ts';
import { noteSignIn, type Proven, type RecordedSignIn, recordSignIn } from '../oauth/record-sign-in.ts';
import type { Services } from '../oauth/services.ts';
import { countAttempt, forgiveAttempt, verifyCounted } from './login-throttle.ts';

export interface SignInServices extends Services {
  readonly passwords: PasswordPool;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly address: string;
  readonly browser: Browser;
  readonly userAgent: string;
}

/** The result of a sign-in. An unknown account and a wrong password are indistinguishable. */
export type SignInResult =
  | RecordedSignIn
  | { readonly outcome: 'wrong' }
  /** Too many attempts have failed; `wait` in seconds. */
  | { readonly outcome: 'throttled'; readonly wait: number };

/**
 * Signs a user in. Resolves when the failure count, the sign-in and the audit log entry are on disk.
 * @throws {Refusal} `backpressure`, `store_unavailable`
 */
export async function signIn(
  services: SignInServices,
  credentials: Credentials,
  client: OAuthClient,
): Promise<SignInResult> {
  const { directory, passwords } = services;
  const { email, password, address, browser, userAgent } = credentials;
  const attempt = { email, address, browser };
  passwords.checkRoom(); // This comes first: an unchecked attempt must neither count nor use disk space.
  const counted = await countAttempt(services, attempt);
  if (counted.wait > 0) return { outcome: 'throttled', wait: counted.wait };
  const known = userOfEmail(directory, email);
  const isRight = await verifyCounted(services, counted, () =>
    passwords.verify(password, known?.passwordHash ?? noPasswordHash),
  );
  const authentication = { factors: ['password'], userAgent } as const;
  const result = isRight && known && (await startFor(services, known, address, { client, browser, authentication }));
  if (result) {
    await forgiveAttempt(services, attempt, counted);
    return result;
  }
  await directory.under({ address }).change((tx) => {
    noteSignIn(tx, 'sign-in.failed', known && tx.users.get(known.id), authentication);
  });
  return { outcome: 'wrong' };
}

/**
 * Signs in a user whose password was correct; `undefined` if the user or the password has changed since the check, or
 * the policy does not allow the user a password.
 */
function startFor(
  services: SignInServices,
  known: User,
  address: string,
  proven: Proven,
): Promise<RecordedSignIn | undefined> {
  return services.directory.under({ id: known.id, address }).change((tx) => {
    const user = tx.users.get(known.id);
    const isCurrent = user?.passwordHash === known.passwordHash && mayUsePassword(tx, user);
    return isCurrent ? recordSignIn(services, tx, user, proven) : undefined;
  });
}

/** Stands for the browser of a caller who has only a token. No cookie can contain this `permanentId`. */
const tokenHolder = { id: '', permanentId: 'token' };

/**
 * True if the holder of a user's token also knows the user's password. Guesses are throttled together with guesses on
 * the sign-in page, but they do not lock out a known browser.
 * @param address the address of the peer
 * @throws {Refusal} `rate_limited`, `backpressure`, `store_unavailable`
 */
export async function provePassword(
  services: SignInServices,
  { id, email, passwordHash }: User,
  password: string,
  address: string,
): Promise<boolean> {
  const { passwords } = services;
  passwords.checkRoom(id); // This comes first: an unchecked attempt must not count.
  const attempt = { email, address, browser: tokenHolder };
  const counted = await countAttempt(services, attempt);
  if (counted.wait > 0) throw new Refusal('rate_limited', 'Too many wrong passwords for this user', counted.wait);
  const isRight = await verifyCounted(services, counted, () => passwords.verify(password, passwordHash, id));
  if (isRight) await forgiveAttempt(services, attempt, counted);
  return isRight;
}
