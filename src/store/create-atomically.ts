import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncPath } from './sync.ts';

/** Holds the directories while they are being made. The next run removes what a power cut has left in it. */
const stagingName = 'prepare.tmp';

/**
 * Makes directories in a data directory, in this order. After a power cut each is either complete or missing.
 * @param make fills a staging directory in place of the data directory, and closes what it opened
 */
export async function createAtomically(
  data: string,
  names: readonly string[],
  make: (staging: string) => Promise<void>,
): Promise<void> {
  const staging = join(data, stagingName);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  try {
    await make(staging);
    for (const name of names) {
      for (const file of readdirSync(join(staging, name))) syncPath(join(staging, name, file));
      syncPath(join(staging, name));
    }
    for (const name of names) renameSync(join(staging, name), join(data, name));
    // Before the syncs, which take milliseconds: a process that is killed during them leaves nothing behind.
    rmSync(staging, { recursive: true });
    syncPath(data);
    syncPath(dirname(data));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
