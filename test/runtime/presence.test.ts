import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPresent, permissionDenied, readable } from '../../src/runtime/files.ts';
import { temporaryDirectory } from '../support/temporary.ts';

test('isPresent is false for a path that does not exist', () => {
  const directory = temporaryDirectory();
  expect(isPresent(join(directory, 'nothing'))).toBe(false);
  expect(isPresent(directory)).toBe(true);
});

test('a permission error contains the owner of the deepest visible directory', () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const owner = process.getuid?.() === 0 ? 'root' : /./;
  expect(permissionDenied(file)).toMatch(/^permission denied \(it belongs to \S+\)$/);
  expect(permissionDenied(file)).toMatch(owner);
  mkdirSync(join(directory, 'inner'));
  const hidden = join(directory, 'inner/a/b');
  expect(permissionDenied(hidden)).toContain(`(${join(directory, 'inner')} belongs to `);
});

test('reading a file without permission throws an error with the reason', () => {
  const denied = Object.assign(new Error('EACCES'), { code: 'EACCES' });
  const read = () => {
    throw denied;
  };
  const directory = temporaryDirectory();
  expect(() => readable(directory, read)).toThrow(`Cannot read ${directory}: permission denied (it belongs to `);
});
