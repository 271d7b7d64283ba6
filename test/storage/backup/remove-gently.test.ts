import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { Interrupted, Pace } from '../../../src/storage/backup/pace.ts';
import { removeGently } from '../../../src/storage/backup/remove-gently.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { steady } from './data-directory.ts';

/** A file of some steps. */
function largeFile(): string {
  const file = join(temporaryDirectory(), 'backup');
  writeFileSync(file, '');
  truncateSync(file, 50 * 2 ** 20);
  return file;
}

test('a file is removed, and meanwhile what is left of it has another name', async () => {
  const file = largeFile();
  const removing = removeGently(file, steady);
  expect(readdirSync(dirname(file))).toEqual([`backup.${process.pid}.tmp`]);
  await removing;
  expect(readdirSync(dirname(file))).toEqual([]);
  await removeGently(file, steady);
});

test('it goes at once when the work has to end', async () => {
  const file = largeFile();
  const over = new AbortController();
  const removing = removeGently(file, new Pace({ clock: { monotonic: () => 0 }, over: over.signal }));
  over.abort();
  await expect(removing).rejects.toThrow(Interrupted);
  expect(existsSync(`${file}.${process.pid}.tmp`)).toBe(false);
});

test.each([
  ['a hard link', linkSync],
  [
    'a symbolic link',
    (file: string, other: string) => {
      renameSync(file, other);
      symlinkSync(other, file);
    },
  ],
])('what %s leads to stays whole', async (_, link) => {
  const file = largeFile();
  const other = join(temporaryDirectory(), 'kept');
  link(file, other);
  await removeGently(file, steady);
  expect(readdirSync(dirname(file))).toEqual([]);
  expect(statSync(other).size).toBe(50 * 2 ** 20);
});

test('what may be removed, but not written to, is removed at once', async () => {
  const file = join(temporaryDirectory(), 'backup');
  copyFileSync('/bin/sleep', file);
  truncateSync(file, 50 * 2 ** 20);
  chmodSync(file, 0o700);
  // Linux refuses writes to a program that runs, also for root.
  const program = spawn(file, ['60']);
  await once(program, 'spawn');
  try {
    await removeGently(file, steady);
    expect(readdirSync(dirname(file))).toEqual([]);
  } finally {
    program.kill();
  }
});
