import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTextFile } from '../../src/runtime/files.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const fresh = () => join(temporaryDirectory(), 'file');

test.each([
  ['a byte order mark', '\uFEFF{"a":1}\r\n', '{"a":1}\r\n'],
  ['no byte order mark', '{"a":"\uFEFF"}', '{"a":"\uFEFF"}'],
  ['no content', '', ''],
])('readTextFile reads a file that has %s', (_, written, text) => {
  const path = fresh();
  writeFileSync(path, written);
  expect(readTextFile(path)).toBe(text);
});

test.each([['utf16le'], ['utf16be']])('readTextFile refuses a file in %s, and asks for UTF-8', (encoding) => {
  const path = fresh();
  const bytes = Buffer.from('\uFEFFpassword', 'utf16le');
  writeFileSync(path, encoding === 'utf16le' ? bytes : bytes.swap16());
  expect(() => readTextFile(path)).toThrow('the file is UTF-16; save it as UTF-8');
});
