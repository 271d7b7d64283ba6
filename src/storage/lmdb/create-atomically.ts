import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPresent } from '../../runtime/presence.ts';
import { syncPath } from './disk.ts';

/** Holds directories during their creation. The next run removes the remains of a power loss. */
const stagingName = 'prepare.tmp';

/** The staging directory once all of it is on disk. The next run moves its remaining contents: see `finishCreation`. */
const completeName = 'prepared.tmp';

/**
 * Creates directories in a data directory: all of them, or none.
 * @param make fills a staging directory in place of the data directory, and closes what it opened
 */
export async function createAtomically(
  data: string,
  make: (staging: string) => Promise<void>,
): Promise<void> {
  const staging = join(data, stagingName);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  try {
    await make(staging);
    for (const path of readdirSync(staging, { recursive: true, encoding: 'utf8' }))
      syncPath(join(staging, path));
    syncPath(staging);
    renameSync(staging, join(data, completeName));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  syncPath(data);
  syncPath(dirname(data));
  finishCreation(data);
}

/** Completes an interrupted creation: moves the remaining directories to their places. */
export function finishCreation(data: string): void {
  const complete = join(data, completeName);
  if (!existsSync(complete)) return;
  for (const name of readdirSync(complete)) renameSync(join(complete, name), join(data, name));
  rmdirSync(complete);
  syncPath(data);
}

/** Whether a data directory has a file, or will have it after `finishCreation`. */
export function willHave(data: string, path: string): boolean {
  return [data, join(data, completeName)].some((directory) => isPresent(join(directory, path)));
}
