import { readFileSync } from 'node:fs';

/**
 * Reads a text file without its byte order mark, which editors on Windows add.
 * @param file a path, or 0 for standard input
 * @throws {Error} as `fs.readFileSync` does, and with the code `UTF16` for UTF-16
 */
export function readTextFile(file: string | 0): string {
  const bytes = readFileSync(file);
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw Object.assign(new Error('the file is UTF-16; save it as UTF-8'), { code: 'UTF16' });
  }
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}
