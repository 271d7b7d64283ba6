import { closeSync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent } from '../../runtime/files.ts';
import { checkStatePages, newestMeta, PageSet } from '../lmdb/check-pages.ts';
import { createAtomically } from '../lmdb/data-directory.ts';
import { forgetJournals, openIfCurrent, usageLayout } from '../lmdb/layout.ts';
import { type Description, metaPageCount, type StoreDescription } from './format.ts';
import type { Pace } from './pace.ts';
import {
  type Authentication,
  type BackupSource,
  measureBackup,
  nameBackup,
  type Pages,
  type ReadBackup,
  readBackup,
  withoutKey,
} from './read-backup.ts';
import { checkRoom } from './write-file.ts';

/** Directories that a data directory can contain. */
const folders = ['accounts', 'usage', 'spool', 'journal'];

/**
 * Creates a data directory from a backup. A file is read twice: first to check all of it, then to write. A stream is
 * checked while it is written under another name.
 * @param data a directory that this process has locked
 * @throws {Error} as `readBackup` does, and if the directory already has data. The directory is then unchanged
 */
export async function restore(
  source: BackupSource,
  data: string,
  pace: Pace,
  authentication: Authentication = withoutKey,
): Promise<ReadBackup> {
  const found = folders.find((name) => isPresent(join(data, name)));
  if (found !== undefined)
    throw new Error(
      `Cannot restore into ${data}: it has data (${join(data, found)}); specify an empty directory with --data`,
    );
  if (typeof source === 'string') await readBackup(source, {}, pace, authentication);
  checkRoomFor(source, join(data, 'accounts'));
  let restored: ReadBackup | undefined;
  await createAtomically(data, async (staging) => {
    restored = await unpack(source, staging, pace, authentication);
  });
  return restored!;
}

/** @throws {Error} if the disk of a path lacks space for the backup; standard input has an unknown size */
export function checkRoomFor(source: BackupSource, path: string): void {
  const size = typeof source === 'string' ? measureBackup(source) : source.size;
  if (size !== undefined) checkRoom(path, size);
}

interface UnpackedStore {
  readonly described: StoreDescription;
  readonly descriptor: number;
  readonly written: PageSet;
}

/** Creates the stores of a backup in a directory, and checks their pages. @throws {Error} as `readBackup` does */
export async function unpack(
  source: BackupSource,
  directory: string,
  pace: Pace,
  authentication: Authentication = withoutKey,
): Promise<ReadBackup> {
  const unpacked: UnpackedStore[] = [];
  try {
    const whole = await readBackup(source, unpackingTo(directory, unpacked), pace, authentication);
    for (const each of unpacked) {
      const { descriptor, described } = each;
      // Extends the file to its size. Gaps between the pages read as zeros and take no space.
      ftruncateSync(descriptor, (described.lastPage + 1) * described.pageSize);
      fdatasyncSync(descriptor);
      await check(each, nameBackup(source), pace);
    }
    await beginJournals(directory);
    return whole;
  } finally {
    for (const { descriptor } of unpacked) closeSync(descriptor);
  }
}

/** Begins new journals, because the journal of the original can have frames that the stores of the backup lack. */
async function beginJournals(directory: string): Promise<void> {
  const lmdb = isPresent(join(directory, 'usage')) ? openIfCurrent(directory, usageLayout) : undefined;
  if (lmdb !== undefined) forgetJournals(lmdb, usageLayout);
  await lmdb?.close();
}

function unpackingTo(directory: string, unpacked: UnpackedStore[]) {
  return {
    described({ stores }: Description) {
      for (const described of stores) {
        mkdirSync(join(directory, described.store), { mode: 0o700 });
        const descriptor = openSync(join(directory, described.store, 'data.mdb'), 'wx+', 0o600);
        unpacked.push({ described, descriptor, written: new PageSet(described.lastPage + 1) });
      }
    },
    pages({ store, first, content }: Pages) {
      const { described, descriptor, written } = unpacked[store]!;
      writeSync(descriptor, content, 0, content.length, first * described.pageSize);
      written.add(first, content.length / described.pageSize);
    },
  };
}

/** Checks that every page in use is in the backup, and that every page of the backup is in use. */
async function check({ described, descriptor, written }: UnpackedStore, file: string, pace: Pace): Promise<void> {
  let inUse = metaPageCount;
  let areWritten = true;
  const checking = checkStatePages(descriptor, newestMeta(descriptor)!, (first, count) => {
    inUse += count;
    for (let page = first; page < first + count; page += 1) areWritten &&= written.has(page);
  });
  const areAll = () => areWritten && inUse === written.size;
  const fault =
    (await pace.finish(checking, () => ({ done: inUse, total: written.size, unit: 'pages' }))) ??
    (areAll() ? undefined : 'its pages differ from the pages in use; use another backup');
  if (fault !== undefined) throw new Error(`Cannot use ${file}: of its ${described.store}, ${fault}`);
}
