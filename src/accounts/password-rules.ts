import { resemblesOurs } from './reserved-names.ts';

/** Characters and bytes that a new password may have (NIST SP 800-63B §3.1.1.2). */
const fewestCharacters = 8;
const mostBytes = 1024;

/** A part of an e-mail address that is shorter, such as `ada`, is found in many a good password. */
const fewestOfAddress = 4;

/** What a new password must be, for a refusal; `undefined` if it can be a user's. Does not look at common passwords. */
export function passwordFault(password: string, email: string): string | undefined {
  if ([...password].length < fewestCharacters) return `must have at least ${fewestCharacters} characters`;
  if (Buffer.byteLength(password) > mostBytes) return `must have at most ${mostBytes} bytes`;
  if (resemblesOurs(password)) return 'must not contain the name of this service';
  if (containsAddress(password, email)) return 'must not contain the e-mail address or the part before its @';
  return undefined;
}

export const commonPassword = 'must not be one of the most common passwords, which attackers try first';

function containsAddress(password: string, email: string): boolean {
  const [local = ''] = email.toLowerCase().split('@');
  return local.length >= fewestOfAddress && password.toLowerCase().includes(local);
}
