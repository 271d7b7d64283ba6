import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { isPresent } from '../../runtime/presence.ts';
import { checkPages, newestMeta } from '../lmdb/check-pages.ts';
import { openLmdb } from '../lmdb/lmdb.ts';
import { syncPath } from '../lmdb/sync.ts';
import type { Pace } from './pace.ts';
import { checkRoom } from './write-file.ts';

/** What was gained in one file. */
export interface Compacted {
  readonly file: string;
  readonly before: number;
  readonly after: number;
}

const stores = ['accounts', 'usage', 'spool'];
const lookEveryMs = 50;

/**
 * Writes each store of a data directory anew without its free pages, and puts it in place of the one before when it is on disk and
 * was checked. Nothing else may use the directory.
 * @throws {Error} when there is no room, or a store was changed meanwhile; what was not done yet is as it was
 */
export async function compact(data: string, pace: Pace, done: (compacted: Compacted) => void): Promise<void> {
  for (const store of stores)
    if (isPresent(join(data, store, 'data.mdb'))) done(await compactStore(join(data, store), pace));
}

async function compactStore(folder: string, pace: Pace): Promise<Compacted> {
  const file = join(folder, 'data.mdb');
  const aside = join(folder, 'compact.tmp');
  const copy = join(aside, 'data.mdb');
  const before = statSync(file).size;
  rmSync(aside, { recursive: true, force: true });
  checkRoom(file, before);
  mkdirSync(aside, { mode: 0o700 });
  try {
    const state = stateOf(file);
    await copyWithoutFree(folder, aside, before, pace);
    await check(copy, pace);
    syncPath(copy);
    if (stateOf(file) !== state)
      throw new Error(`Cannot compact ${file}: it was changed meanwhile; try again`);
    renameSync(copy, file);
    syncPath(folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return { file, before, after: statSync(file).size };
}

/** The number of the last transaction. */
function stateOf(file: string): number | undefined {
  const descriptor = openSync(file, 'r');
  try {
    return newestMeta(descriptor)?.transaction;
  } finally {
    closeSync(descriptor);
  }
}

/** LMDB copies in a thread of its own, which nothing can end but the end of the process. */
async function copyWithoutFree(folder: string, aside: string, total: number, pace: Pace): Promise<void> {
  const lmdb = openLmdb(folder);
  let isDone = false;
  const copying = lmdb.backup(aside, true).finally(() => {
    isDone = true;
  });
  copying.catch(() => {}); // It is awaited below.
  while (!isDone) {
    const size = statSync(join(aside, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
    await pace.rest({ done: size, total });
    await Promise.race([copying.catch(() => {}), rest(lookEveryMs)]);
  }
  await lmdb.close();
  await copying.catch(({ message }: Error) => {
    const file = join(folder, 'data.mdb');
    throw new Error(`Cannot compact ${file}: its copy cannot be written (${message}); it is as it was`);
  });
}

async function check(copy: string, pace: Pace): Promise<void> {
  const descriptor = openSync(copy, 'r');
  try {
    const checking = checkPages(descriptor);
    for (let step = checking.next(); ; step = checking.next()) {
      if (step.done && step.value !== undefined)
        throw new Error(`Cannot use the copy ${copy}: ${step.value}`);
      if (step.done) return;
      if (pace.isDue()) await pace.rest();
    }
  } finally {
    closeSync(descriptor);
  }
}
