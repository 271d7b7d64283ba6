import { lstatSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pace } from './pace.ts';

/** How much of a file is freed at once, and what is waited between, ms. */
const stepBytes = 16 * 1024 * 1024;
const restMs = 20;

/**
 * Removes a large file step by step. The file system frees all of a removed file in one transaction of its journal, and a commit of
 * the service waits for that: a tenth of a second for some hundred MiB. What no longer is whole has another name. A file that people
 * have linked elsewhere stays whole there.
 * @throws {Interrupted} when the work has to end: then the rest is removed at once
 */
export async function removeGently(file: string, pace: Pace): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  const going = `${file}.${process.pid}.tmp`;
  renameSync(file, going);
  try {
    for (let left = sizeOfOwn(going) - stepBytes; left > 0 && cut(going, left); left -= stepBytes)
      await pace.wait(pause(restMs));
  } finally {
    rmSync(going);
  }
}

/** The bytes that nothing else has: 0 for a symbolic link, and for a file with several hard links. */
function sizeOfOwn(path: string): number {
  const stat = lstatSync(path);
  return stat.isFile() && stat.nlink === 1 ? stat.size : 0;
}

/** Frees what comes after a length. @returns false where the file may be removed, but not written to: it may be another user's */
function cut(path: string, length: number): boolean {
  try {
    truncateSync(path, length);
    return true;
  } catch {
    return false;
  }
}
