import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** Folder of `common-passwords.br` in the executable, set by the build. If not set, the file is next to this module. */
declare const FLAGMETER_FILES: string | undefined;

/**
 * Common passwords in lower case and sorted, each between two line breaks. Of the million most common passwords, the
 * list contains the 43 940 that are long enough to be accepted here. `scripts/common-passwords.ts` writes the file.
 *
 * Stored as one text, the list takes 640 kB in each hashing thread. A search takes less than a hundredth of the time of
 * a hash.
 */
const list = brotliDecompressSync(packed()).toString('latin1');

function packed(): Buffer {
  const name = 'common-passwords.br';
  return readFileSync(
    typeof FLAGMETER_FILES === 'string' ? `${FLAGMETER_FILES}${name}` : new URL(`./${name}`, import.meta.url),
  );
}

/** True if a password is in the list, ignoring case. */
export function isListed(password: string): boolean {
  return list.includes(`\n${password.toLowerCase()}\n`);
}
