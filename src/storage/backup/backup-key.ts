import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/** Minimum length of a key in bytes. */
const leastBytes = 32;
const mostBytes = 64 * 1024;

/** Domain separation: MACs of backups differ from MACs that another purpose computes with the same key. */
const purpose = 'flagmeter backup 1';

/** The key that authenticates backups (HMAC-SHA-256). Only holders of the key can alter a backup undetected. */
export class BackupKey {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param covered the authenticated bytes @returns the MAC as hex */
  computeMac(covered: readonly Buffer[]): string {
    const hmac = createHmac('sha256', this.#key).update(purpose);
    for (const chunk of covered) hmac.update(chunk);
    return hmac.digest('hex');
  }

  /** True if the MAC is right. Compares in constant time. */
  fits(mac: string, covered: readonly Buffer[]): boolean {
    const given = Buffer.from(mac);
    const right = Buffer.from(this.computeMac(covered));
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

/**
 * Reads a key file: all bytes except a final newline.
 * @throws {Error} with the remedy if the key is unusable
 */
export function readBackupKey(file: string): BackupKey {
  const { content, mode } = read(file);
  if (mode & 0o007) throw new Error(`Cannot use --backup-key-file ${file}: everyone can read it; chmod o= ${file}`);
  const key = content.at(-1) === 0x0a ? content.subarray(0, -1) : content;
  if (key.length < leastBytes)
    throw new Error(
      `Cannot use --backup-key-file ${file}: it has ${key.length} bytes, and a key has at least ${leastBytes}; create a key with openssl rand -hex 32 >${file}`,
    );
  return new BackupKey(key);
}

/** Reads the file. Errors do not show the value of the option, which can be the key itself, passed by mistake. */
function read(file: string): { readonly content: Buffer; readonly mode: number } {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const { mode, size } = fstatSync(descriptor);
    if (size > mostBytes) throw Object.assign(new Error('too large'), { code: 'EFBIG' });
    return { content: readFileSync(descriptor), mode };
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new Error(
      `Cannot read --backup-key-file (${code}): the option must name a file of at most 64 KiB that this user can read`,
    );
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
