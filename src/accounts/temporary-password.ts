import type { User } from '../storage/lmdb/records.ts';
import { hashSecret } from './secrets.ts';

/** Identifies a password in records that must end with it. */
export function passwordId(passwordHash: string): string {
  return hashSecret(passwordHash);
}

/**
 * Marks a password that another person or a log may know: its user must choose another at the next sign-in. The mark identifies
 * the password, so it ends with it, even if an earlier release changes the password.
 */
export function temporary(passwordHash: string): Required<Pick<User, 'temporaryPasswordId'>> {
  return { temporaryPasswordId: passwordId(passwordHash) };
}

/** Whether a user must choose another password at the next sign-in. */
export function hasTemporaryPassword({ passwordHash, temporaryPasswordId }: User): boolean {
  return temporaryPasswordId === passwordId(passwordHash);
}
