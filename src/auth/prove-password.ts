import type { PasswordPool } from '../accounts/password-pool.ts';
import { ApiError } from '../contract/errors.ts';
import type { User } from '../storage/lmdb/records.ts';
import { countAttempt, forgiveAttempt, type ThrottleDeps } from './login-throttle.ts';
import { verifyCounted } from './verify-counted.ts';

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
