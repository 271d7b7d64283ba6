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
import { removeGently } from '../../../src/storage/backup/destination.ts';
import { InterruptedError, Pace } from '../../../src/storage/backup/pace.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { steady } from './data-directory.ts';

/** Creates a file that is removed in several steps. */
function largeFile(): string {
  const file = join(temporaryDirectory(), 'backup');
  writeFileSync(file, '');
  truncateSync(file, 50 * 2 ** 20);
  return file;
}

test('a file has another name while it is being removed', async () => {
  const file = largeFile();
  const removing = removeGently(file, steady);
  expect(readdirSync(dirname(file))).toEqual([`backup.${process.pid}.tmp`]);
  await removing;
  expect(readdirSync(dirname(file))).toEqual([]);
  await removeGently(file, steady);
});

test('an interrupted removal removes the rest of the file immediately', async () => {
  const file = largeFile();
  const over = new AbortController();
  const removing = removeGently(file, new Pace({ clock: { monotonic: () => 0 }, over: over.signal }));
  over.abort();
  await expect(removing).rejects.toThrow(InterruptedError);
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
])('removing %s does not truncate its target', async (_, link) => {
  const file = largeFile();
  const other = join(temporaryDirectory(), 'kept');
  link(file, other);
  await removeGently(file, steady);
  expect(readdirSync(dirname(file))).toEqual([]);
  expect(statSync(other).size).toBe(50 * 2 ** 20);
});

test('a read-only file is removed immediately', async () => {
  const file = join(temporaryDirectory(), 'backup');
  copyFileSync('/bin/sleep', file);
  truncateSync(file, 50 * 2 ** 20);
  chmodSync(file, 0o700);
  // Linux refuses writes to a running program, even for root.
  const program = spawn(file, ['60']);
  await once(program, 'spawn');
  try {
    await removeGently(file, steady);
    expect(readdirSync(dirname(file))).toEqual([]);
  } finally {
    program.kill();
  }
});
