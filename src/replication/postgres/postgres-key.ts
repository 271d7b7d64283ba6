import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readTextFile } from '../../runtime/files.ts';
import { PostgresSetupError } from './postgres-error.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts secrets for PostgreSQL (AES-256-GCM), so that its tables and backups do not reveal them. */
export class PostgresKey {
  readonly #key: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param about identifies the secret, for example by its id; `open` needs the same text @returns base64 */
  seal(secret: string | Uint8Array, about: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce);
    cipher.setAAD(Buffer.from(about));
    const sealed = Buffer.concat([cipher.update(Buffer.from(secret)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** @throws {PostgresSetupError} if the secret was encrypted with another key, or with another `about` */
  open(sealed: string, about: string): Buffer {
    const bytes = Buffer.from(sealed, 'base64');
    try {
      const options = { authTagLength: tagBytes };
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, this.#key, nonce, options);
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
    } catch {
      throw new PostgresSetupError(
        'Cannot read a secret in PostgreSQL: --postgres-key-file is not the key file of this database',
      );
    }
  }
}

export function newPostgresKey(): string {
  return `${randomBytes(keyBytes).toString('base64')}\n`;
}

/**
 * Reads a key file: 32 random bytes as base64 or hex.
 * @throws {Error} that says how to correct the file
 */
export function readPostgresKey(file: string): PostgresKey {
  let text: string;
  try {
    text = readTextFile(file).trim();
  } catch (error) {
    // The value is not shown, because it can be the key itself, passed by mistake.
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new Error(`Cannot read --postgres-key-file (${code}): it must name a file that this user may read`);
  }
  if (statSync(file).mode & 0o007)
    throw new Error(`Cannot use --postgres-key-file ${file}: everyone can read it; chmod o= ${file}`);
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  if (isHex || /^[A-Za-z0-9+/]{43}=$/.test(text)) return new PostgresKey(Buffer.from(text, isHex ? 'hex' : 'base64'));
  throw new Error(
    `Cannot use --postgres-key-file ${file}: it must contain 32 random bytes as base64 or hex, as flagmeter postgres key generates`,
  );
}

const aboutSecret = 'digest secret';
const sealedPrefix = 'sealed:';

/** Returns the secret of a database as stored in `fm_engine`. It is encrypted if there is a key file. */
export function storedSecret(secret: Buffer, key: PostgresKey | undefined): string {
  return key === undefined ? secret.toString('base64') : `${sealedPrefix}${key.seal(secret, aboutSecret)}`;
}

/** True if the database has a key file, so all secrets in it are encrypted. */
export function isSealed(stored: string): boolean {
  return stored.startsWith(sealedPrefix);
}

/**
 * Reads a stored secret. This also proves that the key file is right. Call it before encrypting other secrets.
 * @throws {PostgresSetupError} the database has another key file, needs a key file, or has no key file
 */
export function readSecret(stored: string, key: PostgresKey | undefined): Buffer {
  if (isSealed(stored) && key === undefined)
    throw new PostgresSetupError(
      'The secrets in PostgreSQL are encrypted: name the key file of the other nodes in --postgres-key-file',
    );
  if (!isSealed(stored) && key !== undefined)
    throw new PostgresSetupError(
      'The secrets in PostgreSQL are not encrypted yet: stop all nodes, and encrypt them with flagmeter postgres encrypt and this --postgres-key-file',
    );
  if (key === undefined) return Buffer.from(stored, 'base64');
  return key.open(stored.slice(sealedPrefix.length), aboutSecret);
}
