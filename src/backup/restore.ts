import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { checkPages } from '../store/check-pages.ts';
import { createAtomically } from '../store/create-atomically.ts';
import type { Description } from './format.ts';
import type { Pace } from './pace.ts';
import { type Pages, readBackup, standardInput } from './read-backup.ts';
import { checkRoom } from './write-file.ts';

/** Folders that a data directory may have, each of a store. */
const folders = ['accounts', 'usage', 'spool'];

/** Usage comes first: a directory with accounts alone would be started with empty usage. */
const inOrder = ['usage', 'accounts'];

/**
 * Makes the data of a directory from a backup. A file is read twice: nothing is written before all of it was checked. Standard
 * input is checked while it is written under another name.
 * @param data a directory that this process has locked
 * @throws {Error} as `readBackup` does, and when the directory has data already; it is as it was then
 */
export async function restore(file: string, data: string, pace: Pace): Promise<Description> {
  const found = folders.find((name) => existsSync(join(data, name)));
  if (found !== undefined)
    throw new Error(
      `Cannot restore into ${data}: it has data (${join(data, found)}); name an empty directory with --data`,
    );
  if (file !== standardInput) {
    await readBackup(file, {}, pace);
    checkRoom(join(data, 'accounts'), statSync(file).size);
  }
  let description: Description | undefined;
  await createAtomically(data, inOrder, async (staging) => {
    description = await unpack(file, staging, pace);
  });
  return description!;
}

/**
 * Makes the stores of a backup in a directory, and checks their pages.
 * @throws {Error} as `readBackup` does
 */
export async function unpack(file: string, directory: string, pace: Pace): Promise<Description> {
  const written: number[] = [];
  try {
    const description = await readBackup(file, unpacking(directory, written), pace);
    for (const [at, { store }] of description.stores.entries()) {
      fdatasyncSync(written[at]!);
      await check(written[at]!, store, file, pace);
    }
    return description;
  } finally {
    for (const descriptor of written) closeSync(descriptor);
  }
}

function unpacking(directory: string, written: number[]) {
  let sizes: readonly number[] = [];
  return {
    described({ stores }: Description) {
      sizes = stores.map(({ pageSize }) => pageSize);
      for (const { store, pageSize, lastPage } of stores) {
        if (!inOrder.includes(store)) throw new Error(`Cannot use the backup: it has an unknown store`);
        mkdirSync(join(directory, store), { mode: 0o700 });
        const descriptor = openSync(join(directory, store, 'data.mdb'), 'wx+', 0o600);
        written.push(descriptor);
        // What is between the pages reads as zeros, and takes no room.
        ftruncateSync(descriptor, (lastPage + 1) * pageSize);
      }
    },
    pages({ store, first, content }: Pages) {
      writeSync(written[store]!, content, 0, content.length, first * sizes[store]!);
    },
  };
}

async function check(descriptor: number, store: string, file: string, pace: Pace): Promise<void> {
  const checking = checkPages(descriptor);
  for (let step = checking.next(); ; step = checking.next()) {
    if (step.done && step.value !== undefined)
      throw new Error(`Cannot use ${file}: of its ${store}, ${step.value}`);
    if (step.done) return;
    if (pace.isDue()) await pace.rest();
  }
}
