import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readTextFile } from '../../runtime/text-file.ts';
import { PostgresUnfit } from './postgres-error.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * The key that secrets are encrypted with before they go into the engine (AES-256-GCM), so that who reads its tables or its
 * backups cannot use them. All nodes are given the same key file.
 */
export class PostgresKey {
  readonly #key: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param about what the secret is, such as its id: it opens as nothing else. @returns base64 */
  seal(secret: string | Uint8Array, about: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce);
    cipher.setAAD(Buffer.from(about));
    const sealed = Buffer.concat([cipher.update(Buffer.from(secret)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** @throws {PostgresUnfit} when it was sealed with another key, or as something else */
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
      throw new PostgresUnfit(
        'Cannot read a secret of the engine: --postgres-key-file is not the key file that the engine was made with',
      );
    }
  }
}

/** What a new key file holds. */
export function newPostgresKey(): string {
  return `${randomBytes(keyBytes).toString('base64')}\n`;
}

/** Reads a key file: 32 random bytes as base64 or hex. @throws {Error} when it cannot be used, with what to do */
export function readPostgresKey(file: string): PostgresKey {
  let text: string;
  try {
    text = readTextFile(file).trim();
  } catch (error) {
    // What was given may be the key itself, by mistake.
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new Error(`Cannot read --postgres-key-file (${code}): it must name a file that this user may read`);
  }
  if (statSync(file).mode & 0o007)
    throw new Error(`Cannot use --postgres-key-file ${file}: everyone can read it; chmod o= ${file}`);
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  if (isHex || /^[A-Za-z0-9+/]{43}=$/.test(text))
    return new PostgresKey(Buffer.from(text, isHex ? 'hex' : 'base64'));
  throw new Error(
    `Cannot use --postgres-key-file ${file}: it must hold 32 random bytes as base64 or hex, as flagmeter postgres key makes it`,
  );
}

const aboutSecret = 'digest secret';
const sealedPrefix = 'sealed:';

/** How the secret of an engine stands in `fm_engine`: encrypted when there is a key file. */
export function storedSecret(secret: Buffer, key: PostgresKey | undefined): string {
  return key === undefined ? secret.toString('base64') : `${sealedPrefix}${key.seal(secret, aboutSecret)}`;
}

/**
 * Reads it again. It also tells whether the key file is that of the engine, before anything is written with it.
 * @throws {PostgresUnfit} the engine has another key file, needs one, or has none
 */
export function readSecret(stored: string, key: PostgresKey | undefined): Buffer {
  const isSealed = stored.startsWith(sealedPrefix);
  if (isSealed && key === undefined)
    throw new PostgresUnfit(
      'The engine was made with a key file: give the same one with --postgres-key-file',
    );
  if (!isSealed && key !== undefined)
    throw new PostgresUnfit('The engine was made without a key file: leave out --postgres-key-file');
  if (key === undefined) return Buffer.from(stored, 'base64');
  return key.open(stored.slice(sealedPrefix.length), aboutSecret);
}
