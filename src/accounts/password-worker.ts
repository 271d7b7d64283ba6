import { hashPassword, verifyPassword } from './passwords.ts';

/** A password to be hashed. */
export interface HashTask {
  readonly password: string;
  /** 16 random bytes. */
  readonly salt: Uint8Array;
}

/** A password to be compared with a hash. */
export interface VerifyTask {
  readonly password: string;
  /** PHC string. */
  readonly hash: string;
}

/** As `hashPassword`. */
export function hash({ password, salt }: HashTask): Promise<string> {
  return hashPassword(password, () => salt);
}

/** As `verifyPassword`. */
export function verify({ password, hash }: VerifyTask): Promise<boolean> {
  return verifyPassword(password, hash);
}
