import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unmatched } from '../../scripts/test/unmatched.ts';

const root = join(import.meta.dirname, '../..');

it.each([
  ['a folder', ['test/scripts'], undefined],
  ['a part of a name', ['unmatched'], undefined],
  ['a file with a line', ['./test/scripts/unmatched.test.ts:7'], undefined],
  ['options', ['test/scripts', '-t', 'a name'], undefined],
  ['a name that no test has', ['test/scripts', 'unmatchable'], 'unmatchable'],
  ['a file without tests', ['test/support/sources.ts'], 'test/support/sources.ts'],
])('unmatched returns the argument that matches no test file: %s', (_, args, expected) => {
  expect(unmatched(root, args)).toBe(expected);
});
