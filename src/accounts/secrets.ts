import { hash, timingSafeEqual } from 'node:crypto';
import type { KeyType } from '../storage/lmdb/records.ts';

export type RandomBytes = (size: number) => Uint8Array;

const keyPrefixes: Readonly<Record<KeyType, string>> = { Frontend: 'fm_fe_', Mobile: 'fm_mo_', Backend: 'fm_be_' };

const secretPrefix = 'fm_secret_';

/** Length of the prefix that identifies a key: the type of the key and six digits. */
const shownLength = 12;

/** An opaque id such as `app_1f…`: a prefix that names its type, and 96 random bits. */
export function newId(prefix: string, randomBytes: RandomBytes): string {
  return `${prefix}_${hex(randomBytes(12))}`;
}

/** The text of an application key: a prefix for its type, and 160 random bits. */
export function newKeyText(type: KeyType, randomBytes: RandomBytes): string {
  return keyPrefixes[type] + hex(randomBytes(20));
}

/** The first characters of a key's text. They leave 136 bits of a Backend key unknown. */
export function keyPrefix(text: string): string {
  return text.slice(0, shownLength);
}

/** Matches the part of an Unleash token before its secret: `project:environment.`. Project names can contain dots. */
export const openPart = /^(?:\*|\[\]|[\w.~-]{1,100}):[\w~-]{1,100}\./;

/** Returns the secret part of an adopted token. The names before the secret part can be guessed. */
export function secretPart(token: string): string {
  return token.slice(openPart.exec(token)?.[0].length ?? 0);
}

/** Minimum length of an unguessable random text: 128 bits, even if all characters are hexadecimal digits. */
export const strongSecretLength = 32;

/** The beginning of an adopted token, by which people recognise it. It reveals little of the secret part. */
export function tokenPrefix(token: string): string {
  const { length } = secretPart(token);
  return token.slice(0, token.length - length + (length >= strongSecretLength ? 4 : 0));
}

/** True if a secret has too few letters and digits, too few different characters, or no digit. */
export function isGuessable(secret: string): boolean {
  const symbols = secret.match(/[a-z\d]/gi) ?? [];
  return symbols.length < strongSecretLength || new Set(symbols).size < 10 || !/\d/.test(secret);
}

/** True if a text begins like a key or a client secret of this service. */
export function isOwnSecret(text: string): boolean {
  return [...Object.values(keyPrefixes), secretPrefix].some((prefix) => text.startsWith(prefix));
}

/** A client secret: 256 random bits. */
export function newClientSecret(randomBytes: RandomBytes): string {
  return `${secretPrefix}${hex(randomBytes(32))}`;
}

/** SHA-256 of a secret's UTF-8 text, hex. Sufficient for secrets of at least 128 random bits; not for passwords. */
export function hashSecret(text: string): string {
  return hash('sha256', text);
}

/** True if a secret has one of these SHA-256 hashes (hex). Compares all of them, in constant time. */
export function matchesHash(secret: string, ...wantedHashes: readonly string[]): boolean {
  const found = hash('sha256', secret, 'buffer');
  let matches = false;
  for (const wantedHash of wantedHashes) {
    const wanted = Buffer.from(wantedHash, 'hex');
    const isEqual = found.length === wanted.length && timingSafeEqual(found, wanted);
    matches ||= isEqual;
  }
  return matches;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
