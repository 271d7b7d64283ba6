import { passwordLength } from '../contract/sign-in.ts';
import type { User } from '../storage/lmdb/records.ts';
import { hashSecret, type RandomBytes } from './secrets.ts';

/** OWASP's first choice for argon2id: 19 MiB, two passes, no parallelism. */
const cost = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 };

const costText = `$argon2id$v=19$m=${cost.memorySize},t=${cost.iterations},p=${cost.parallelism}`;

const noDigest = `$${'A'.repeat(43)}`;

/**
 * The hash of a user without a password. No password matches this hash, but verification takes as long as with other
 * hashes. This hash also replaces the missing hash of an unknown user.
 */
export const noPasswordHash = `${costText}$${'A'.repeat(22)}${noDigest}`;

/** Returns a new hash that no password matches. Records bound to the previous hash of the user become invalid. */
export function withoutPassword(randomBytes: RandomBytes): string {
  return `${costText}$${Buffer.from(randomBytes(16)).toString('base64').slice(0, 22)}${noDigest}`;
}

/** True if a text is a hash in the format of `hashPassword`, with the same cost. */
export function isPasswordHash(text: string): boolean {
  return text.startsWith(costText) && /^\$[\w+/-]{22}\$[\w+/-]{43}$/.test(text.slice(costText.length));
}

/** Longer passwords are rejected unhashed, because unauthenticated senders must not make hashing slow. */
const { maxBytes } = passwordLength;

/** 32 letters and digits that do not look alike: five bits each. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** True if a password can be hashed: 1 to 1024 UTF-8 bytes. */
export function isPassword(password: string): boolean {
  return password.length > 0 && Buffer.byteLength(password) <= maxBytes;
}

/**
 * Hashes a password with argon2id. Returns the PHC string, which contains salt and cost.
 * @throws {RangeError} unless `isPassword`
 */
export function hashPassword(password: string, randomBytes: RandomBytes): Promise<string> {
  if (!isPassword(password)) throw new RangeError(`The password must have 1 to ${maxBytes} bytes`);
  return import('hash-wasm').then(({ argon2id }) =>
    argon2id({ password, salt: randomBytes(16), ...cost, outputType: 'encoded' }),
  );
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  return isPassword(password) && (await verifyHash(password, hash));
}

/**
 * Verifies a password. Uses Bun's argon2 if present, which takes half the time. Hashing cannot use Bun's argon2,
 * because it does not accept a given salt.
 */
async function verifyHash(password: string, hash: string): Promise<boolean> {
  const matches = globalThis.Bun?.password.verifySync(password, hash);
  return matches ?? (await import('hash-wasm')).argon2Verify({ password, hash });
}

/** Generates a password that a person can read and type: groups of five characters, each with 25 random bits. */
export function newPassword(randomBytes: RandomBytes, groups = 4): string {
  const letters = Array.from(randomBytes(5 * groups), (byte) => alphabet[byte % alphabet.length]).join('');
  return (letters.match(/.{5}/g) ?? []).join('-');
}

/** True if a user has a password. Other users are invited, or sign in by other factors only. */
export function hasPassword({ passwordHash }: Pick<User, 'passwordHash'>): boolean {
  return !passwordHash.endsWith(noDigest);
}

/** Identifies a password in records that become invalid when the password changes. */
export function passwordId(passwordHash: string): string {
  return hashSecret(passwordHash);
}

/**
 * Marks a password as temporary, because another person might know it or a log might contain it. The user must replace
 * it at the next sign-in. The mark contains the id of the password. Any new password therefore ends the mark, even a
 * password that an earlier release sets.
 */
export function temporary(passwordHash: string): Required<Pick<User, 'temporaryPasswordId'>> {
  return { temporaryPasswordId: passwordId(passwordHash) };
}

export function hasTemporaryPassword({ passwordHash, temporaryPasswordId }: User): boolean {
  return temporaryPasswordId === passwordId(passwordHash);
}
