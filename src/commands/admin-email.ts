import { UsageError } from '../cli/flags.ts';

/**
 * The e-mail address that `--admin-email` gives. Catches typing errors only: which addresses exist is known to the mail
 * system alone.
 * @throws {UsageError} when it is missing, or is none
 */
export function readEmail(email: string | undefined): string {
  if (email === undefined) throw new UsageError('Cannot prepare a store without --admin-email');
  if (email.length > 254 || !/^[^\s@<>,;"\p{Cc}]+@[^\s@<>,;"\p{Cc}]+$/u.test(email)) {
    throw new UsageError(`Cannot use --admin-email ${email}: must be one address, such as you@example.com`);
  }
  return email;
}
