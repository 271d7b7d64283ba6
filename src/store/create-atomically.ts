import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncPath } from './sync.ts';

/** Where the directories are while they are made; what a power cut leaves of it is removed by the next one. */
const asideName = 'prepare.tmp';

/**
 * Makes directories of a data directory, in this order, so that after a power cut each is there wholly or not at all.
 * @param make makes them in a directory that stands for the data directory, and closes what it opened
 */
export async function createAtomically(
  data: string,
  names: readonly string[],
  make: (aside: string) => Promise<void>,
): Promise<void> {
  const aside = join(data, asideName);
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { mode: 0o700 });
  try {
    await make(aside);
    for (const name of names) {
      for (const file of readdirSync(join(aside, name))) syncPath(join(aside, name, file));
      syncPath(join(aside, name));
    }
    for (const name of names) renameSync(join(aside, name), join(data, name));
    syncPath(data);
    syncPath(dirname(data));
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
