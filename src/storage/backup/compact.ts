import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { isPresent } from '../../runtime/files.ts';
import { checkPages, newestMeta } from '../lmdb/check-pages.ts';
import { syncPath } from '../lmdb/disk.ts';
import { openLmdb } from '../lmdb/lmdb.ts';
import type { Pace } from './pace.ts';
import { checkRoom } from './write-file.ts';

export interface CompactionResult {
  readonly file: string;
  readonly before: number;
  readonly after: number;
}

const stores = ['accounts', 'usage', 'spool'];
const lookEveryMs = 50;

/**
 * Copies each store of a data directory without its free pages, and replaces the original once the copy is on disk and
 * checked. No other process may use the directory.
 * @throws {Error} if the disk lacks space, or a store was changed during the copy; the stores that are not compacted
 * yet are unchanged
 */
export async function compact(data: string, pace: Pace, done: (compacted: CompactionResult) => void): Promise<void> {
  for (const store of stores)
    if (isPresent(join(data, store, 'data.mdb'))) done(await compactStore(join(data, store), pace));
}

async function compactStore(folder: string, pace: Pace): Promise<CompactionResult> {
  const file = join(folder, 'data.mdb');
  const aside = join(folder, 'compact.tmp');
  const copy = join(aside, 'data.mdb');
  const before = statSync(file).size;
  rmSync(aside, { recursive: true, force: true });
  checkRoom(file, before);
  mkdirSync(aside, { mode: 0o700 });
  try {
    const state = readTransactionNumber(file);
    await copyWithoutFree(folder, aside, before, pace);
    await check(copy, pace);
    syncPath(copy);
    if (readTransactionNumber(file) !== state)
      throw new Error(`Cannot compact ${file}: it was changed during the copy; try again`);
    renameSync(copy, file);
    syncPath(folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return { file, before, after: statSync(file).size };
}

/** The number of the last transaction in the file. */
function readTransactionNumber(file: string): number | undefined {
  const descriptor = openSync(file, 'r');
  try {
    return newestMeta(descriptor)?.transaction;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Copies a file without its free pages. The copying thread of LMDB runs until the copy is complete or the process ends.
 */
async function copyWithoutFree(folder: string, aside: string, total: number, pace: Pace): Promise<void> {
  const lmdb = openLmdb(folder);
  let isDone = false;
  const copying = lmdb.backup(aside, true).finally(() => {
    isDone = true;
  });
  copying.catch(() => {}); // The promise is awaited below.
  while (!isDone) {
    const size = statSync(join(aside, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
    await pace.rest({ done: size, total });
    await Promise.race([copying.catch(() => {}), rest(lookEveryMs)]);
  }
  await lmdb.close();
  await copying.catch(({ message }: Error) => {
    const file = join(folder, 'data.mdb');
    throw new Error(`Cannot compact ${file}: cannot write its copy: ${message}. The file is unchanged`);
  });
}

async function check(copy: string, pace: Pace): Promise<void> {
  const descriptor = openSync(copy, 'r');
  try {
    const fault = await pace.finish(checkPages(descriptor));
    if (fault !== undefined) throw new Error(`Cannot use the copy ${copy}: ${fault}`);
  } finally {
    closeSync(descriptor);
  }
}
