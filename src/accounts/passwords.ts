import { argon2id, argon2Verify } from 'hash-wasm';
import type { RandomBytes } from './secrets.ts';

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const cost = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 };

/** What every hash begins with. */
const costText = `$argon2id$v=19$m=${cost.memorySize},t=${cost.iterations},p=${cost.parallelism}`;

/**
 * What to compare a password with when there is no such user, so that it takes the same time: a hash of no password, with
 * the cost of all others.
 */
export const nobodysPasswordHash = `${costText}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether a text is what `hashPassword` gives, of its cost. */
export function isPasswordHash(text: string): boolean {
  return text.startsWith(costText) && /^\$[\w+/-]{22}\$[\w+/-]{43}$/.test(text.slice(costText.length));
}

/** A longer one is refused unread: hashing time must not be a stranger's to choose. */
const longestBytes = 1024;

/** Letters and digits that cannot be taken for one another, 32 of them: five bits each. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Whether a password is short enough to be hashed: at most 1024 UTF-8 bytes, and not empty. */
export function isPassword(password: string): boolean {
  return password.length > 0 && Buffer.byteLength(password) <= longestBytes;
}

/**
 * Hashes a password with argon2id; gives the PHC string, which carries salt and cost.
 * @throws {RangeError} when it is not one by `isPassword`
 */
export function hashPassword(password: string, randomBytes: RandomBytes): Promise<string> {
  if (!isPassword(password))
    throw new RangeError(`Cannot hash the password: must be 1–${longestBytes} bytes`);
  return argon2id({ password, salt: randomBytes(16), ...cost, outputType: 'encoded' });
}

/** Whether a password belongs to a PHC string of `hashPassword`. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  return isPassword(password) && (await verifyHash(password, hash));
}

/** Bun reads the same texts and takes half the time; Node has no argon2. Hashing stays with one, whose salt is passed in. */
function verifyHash(password: string, hash: string): boolean | Promise<boolean> {
  return globalThis.Bun?.password.verifySync(password, hash) ?? argon2Verify({ password, hash });
}

/** A password of 100 random bits that a person can read and type: four groups of five characters. */
export function newPassword(randomBytes: RandomBytes): string {
  const letters = Array.from(randomBytes(20), (byte) => alphabet[byte % alphabet.length]).join('');
  return (letters.match(/.{5}/g) ?? []).join('-');
}
