import { isCommonPassword } from './password-rules.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

export interface HashTask {
  readonly password: string;
  /** 16 random bytes. */
  readonly salt: Uint8Array;
}

export interface VerifyTask {
  readonly password: string;
  /** PHC string. */
  readonly hash: string;
}

/** Hashes as `hashPassword` does; returns `undefined` for a common password. */
export async function hash({ password, salt }: HashTask): Promise<string | undefined> {
  return (await isCommonPassword(password)) ? undefined : hashPassword(password, () => salt);
}

export function verify({ password, hash }: VerifyTask): Promise<boolean> {
  return verifyPassword(password, hash);
}
