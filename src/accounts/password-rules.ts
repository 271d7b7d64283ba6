import { Refusal } from '../contract/errors.ts';
import { passwordLength } from '../contract/sign-in.ts';
import { resemblesOurs } from './reserved-names.ts';

const { minCharacters, maxBytes } = passwordLength;

/**
 * Parts of the e-mail address are forbidden in a password from this length on. Shorter parts, such as `ada`, are not.
 */
const fewestOfAddress = 4;

/**
 * Returns the rule that a new password breaks; `undefined` if it breaks no rule. Does not check for common passwords.
 */
export function passwordFault(password: string, email: string): string | undefined {
  if ([...password].length < minCharacters) return `must have at least ${minCharacters} characters`;
  if (Buffer.byteLength(password) > maxBytes) return `must have at most ${maxBytes} bytes`;
  if (resemblesOurs(password)) return 'must not contain the name of this service';
  if (containsAddress(password, email)) return 'must not contain the e-mail address or the part before its @';
  return undefined;
}

/**
 * Describes the fault of a password that was typed twice; `undefined` if it is valid. Does not check for common
 * passwords.
 */
export function typedFault(
  { password, again }: { readonly password: string; readonly again: string },
  email: string,
): string | undefined {
  if (password !== again) return 'The two passwords differ.';
  const fault = passwordFault(password, email);
  return fault && `The password ${fault}.`;
}

export const commonPassword = 'must not be one of the most common passwords, which attackers try first';

function containsAddress(password: string, email: string): boolean {
  const [local = ''] = email.toLowerCase().split('@');
  return local.length >= fewestOfAddress && password.toLowerCase().includes(local);
}

/** @param fault as returned by `passwordFault` */
export function refusedPassword(fault: string): Refusal {
  return new Refusal('invalid_body', `The password ${fault}`);
}

/**
 * True for one of the most common passwords, ignoring case. Attackers try these first (NIST SP 800-63B §3.1.1.2).
 * Loading the list takes milliseconds, so a service calls this in its hashing threads.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const { isListed } = await import('./common-passwords.ts');
  return isListed(password);
}
