import { closeSync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent } from '../../runtime/files.ts';
import { checkStatePages, newestMeta, PageSet } from '../lmdb/check-pages.ts';
import { createAtomically } from '../lmdb/data-directory.ts';
import { forgetJournals, openIfCurrent, usageLayout } from '../lmdb/layout.ts';
import { type Description, metaPageCount, type StoreDescription } from './format.ts';
import type { Pace } from './pace.ts';
import {
  type Authentication,
  type Pages,
  type ReadBackup,
  readBackup,
  standardInput,
  withoutKey,
} from './read-backup.ts';
import { checkRoom } from './write-file.ts';

/** Directories that a data directory can contain. */
const folders = ['accounts', 'usage', 'spool', 'journal'];

/**
 * Creates a data directory from a backup. A file is read twice: all of it is checked before anything is written.
 * Standard input is written under another name while it is checked.
 * @param data a directory that this process has locked
 * @throws {Error} as `readBackup` does, and if the directory already has data. The directory is then unchanged
 */
export async function restore(
  file: string,
  data: string,
  pace: Pace,
  authentication: Authentication = withoutKey,
): Promise<ReadBackup> {
  const found = folders.find((name) => isPresent(join(data, name)));
  if (found !== undefined)
    throw new Error(
      `Cannot restore into ${data}: it has data (${join(data, found)}); specify an empty directory with --data`,
    );
  if (file !== standardInput) {
    await readBackup(file, {}, pace, authentication);
    checkRoom(join(data, 'accounts'), statSync(file).size);
  }
  let restored: ReadBackup | undefined;
  await createAtomically(data, async (staging) => {
    restored = await unpack(file, staging, pace, authentication);
  });
  return restored!;
}

interface UnpackedStore {
  readonly described: StoreDescription;
  readonly descriptor: number;
  readonly written: PageSet;
}

/** Creates the stores of a backup in a directory, and checks their pages. @throws {Error} as `readBackup` does */
export async function unpack(
  file: string,
  directory: string,
  pace: Pace,
  authentication: Authentication = withoutKey,
): Promise<ReadBackup> {
  const unpacked: UnpackedStore[] = [];
  try {
    const whole = await readBackup(file, unpackingTo(directory, unpacked), pace, authentication);
    for (const each of unpacked) {
      const { descriptor, described } = each;
      // Gaps between the pages read as zeros and take no space.
      ftruncateSync(descriptor, (described.lastPage + 1) * described.pageSize);
      fdatasyncSync(descriptor);
      await check(each, file, pace);
    }
    await beginJournals(directory);
    return whole;
  } finally {
    for (const { descriptor } of unpacked) closeSync(descriptor);
  }
}

/**
 * Begins new journals, because a backup of a running server can lack the latest frames of the journal to which it
 * refers.
 */
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
