import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkOpenFile } from '../../../src/storage/lmdb/disk.ts';

const root = mkdtempSync(join(tmpdir(), 'identity-'));
afterAll(() => rmSync(root, { recursive: true }));

const losses: readonly [string, (directory: string, file: string) => void][] = [
  ['was removed', (_, file) => rmSync(file)],
  ['was moved', (_, file) => renameSync(file, `${file}-moved`)],
  [
    'was replaced by a copy',
    (_, file) => {
      copyFileSync(file, `${file}-copy`);
      renameSync(`${file}-copy`, file);
    },
  ],
  ['was moved with its directory', (directory) => renameSync(directory, `${directory}-moved`)],
  [
    'was moved with its directory, which a copy replaced',
    (directory) => {
      renameSync(directory, `${directory}-moved`);
      cpSync(`${directory}-moved`, directory, { recursive: true });
    },
  ],
];

test.each(losses)('the check of an open file reports that the file %s', (loss, lose) => {
  const directory = join(root, loss);
  const file = join(directory, 'file');
  mkdirSync(directory);
  writeFileSync(file, 'x');
  const descriptor = openSync(file, 'r+');
  try {
    const check = checkOpenFile(file, descriptor);
    check();
    lose(directory, file);
    expect(check).toThrow(`${file} was removed, moved or replaced while it was in use`);
  } finally {
    closeSync(descriptor);
  }
});
