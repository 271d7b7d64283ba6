import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isStoreFailure } from '../../runtime/failures.ts';
import { isPresent } from '../../runtime/presence.ts';
import { probeDisk, shortageIn, syncPath } from './disk.ts';

/** Holds directories during their creation. The next run removes the remains of a power loss. */
const stagingName = 'prepare.tmp';

/** The staging directory once all of it is on disk. The next run moves its remaining contents: see `finishCreation`. */
const completeName = 'prepared.tmp';

/**
 * Creates directories in a data directory: all of them, or none.
 * @param make fills a staging directory in place of the data directory, and closes what it opened
 * @throws {Error} whatever `make` throws, and if the disk is full; the data directory is unchanged then
 */
export async function createAtomically(
  data: string,
  make: (staging: string) => Promise<void>,
): Promise<void> {
  const staging = join(data, stagingName);
  rmSync(staging, { recursive: true, force: true });
  try {
    mkdirSync(staging, { mode: 0o700 });
    await make(staging);
    for (const path of readdirSync(staging, { recursive: true, encoding: 'utf8' }))
      syncPath(join(staging, path));
    syncPath(staging);
    renameSync(staging, join(data, completeName));
  } catch (error) {
    throw isFull(data, error) ? noSpace(data, error) : error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  syncPath(data);
  syncPath(dirname(data));
  finishCreation(data);
}

/** LMDB reports a full disk as any failed write. */
function isFull(data: string, error: unknown): boolean {
  const named = shortageIn(error) ?? shortageIn((error as Error).cause ?? {});
  return (named ?? (isStoreFailure(error) ? probeDisk(data) : undefined)) === 'space';
}

function noSpace(data: string, cause: unknown): Error {
  const must = 'free some space, or choose a directory on another disk with --data';
  return new Error(`Cannot write to ${data}: no space left on device; ${must}. Nothing was changed`, {
    cause,
  });
}

/** Completes an interrupted creation: moves the remaining directories to their places. */
export function finishCreation(data: string): void {
  const complete = join(data, completeName);
  if (!existsSync(complete)) return;
  for (const name of readdirSync(complete)) renameSync(join(complete, name), join(data, name));
  rmdirSync(complete);
  syncPath(data);
}

export function willHave(data: string, path: string): boolean {
  return [data, join(data, completeName)].some((directory) => isPresent(join(directory, path)));
}
