import { resemblesOurs } from './reserved-names.ts';

/** Minimum characters and maximum bytes of a new password (NIST SP 800-63B §3.1.1.2). */
const fewestCharacters = 8;
const mostBytes = 1024;

/** Shorter parts of an e-mail address, such as `ada`, occur in many good passwords. */
const fewestOfAddress = 4;

/** The rule that a new password breaks, for a refusal; `undefined` if it breaks none. Does not check for common passwords. */
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
