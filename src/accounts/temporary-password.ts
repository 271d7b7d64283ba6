import type { User } from '../storage/lmdb/records.ts';
import { hashSecret } from './secrets.ts';

/** What stands for a password in records that must end with it. */
export function passwordId(passwordHash: string): string {
  return hashSecret(passwordHash);
}

/**
 * The mark of a password that another person or a log may know: its user has to choose another at the next sign-in. It names
 * the password, so that it ends with it, also when an earlier release changes the password.
 */
export function temporary(passwordHash: string): Required<Pick<User, 'temporaryPasswordId'>> {
  return { temporaryPasswordId: passwordId(passwordHash) };
}

/** Whether a user has to choose another password at the next sign-in. */
export function hasTemporaryPassword({ passwordHash, temporaryPasswordId }: User): boolean {
  return temporaryPasswordId === passwordId(passwordHash);
}
