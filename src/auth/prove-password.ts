import type { PasswordPool } from '../accounts/password-pool.ts';
import { ApiError } from '../errors.ts';
import type { User } from '../store/records.ts';
import { commit } from '../store/transact.ts';
import { type BrakeDeps, releaseBrakes, takeBrakes } from './brakes.ts';

/** Stands for the browser of who has a token: no cookie can hold such a mark. */
const tokenHolder = { id: '', mark: 'token' };

/**
 * Whether a user's token is in the hands of who knows his password, too. Guesses are braked as at the sign-in page, where
 * they keep no known browser out.
 * @param address where the request came from
 * @throws {ApiError} `rate_limited`, `backpressure`, `store_unavailable`
 */
export async function provePassword(
  settings: BrakeDeps & { readonly passwords: PasswordPool },
  { id, email, passwordHash }: User,
  password: string,
  address: string,
): Promise<boolean> {
  const { accounts, health, passwords } = settings;
  passwords.checkRoom(id); // First: what is not going to be checked must not count.
  const attempt = { email, address, browser: tokenHolder };
  const taken = takeBrakes(settings, attempt);
  if (taken.wait > 0)
    throw new ApiError('rate_limited', 'Too many wrong passwords were sent for this user', taken.wait);
  const right = await passwords.verify(password, passwordHash, id);
  if (right) commit(accounts.lmdb, health, () => releaseBrakes(settings, attempt, taken));
  return right;
}
