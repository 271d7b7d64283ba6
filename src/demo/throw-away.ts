import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import { type DataLock, lockDataDirectory } from '../storage/lmdb/lock.ts';

/** The data directory of one demo. */
export interface ThrowAway {
  readonly data: string;
  readonly lock: DataLock;
  /** Removes it, with everything in it. */
  remove(): void;
}

const beginning = 'flagmeter-demo-';

/** A demo locks its directory at once; one that is as young as this may be about to. */
const newMs = 60_000;

/**
 * Makes a directory of its own for a demo, and removes those that killed demos have left. It is removed at the latest when
 * the process ends.
 * @param parent the temp directory
 * @throws {Error} when it cannot be made
 */
export function makeThrowAway(parent: string, clock: Pick<Clock, 'now'>): ThrowAway {
  removeLeftOvers(parent, clock.now());
  const directory = mkdtempSync(join(parent, beginning));
  const erase = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', erase);
  const data = join(directory, 'data');
  const lock = lockDataDirectory(data);
  return {
    data,
    lock,
    remove() {
      lock.release();
      erase();
    },
  };
}

/** What cannot be removed is left to whoever cleans the temp directory. */
function removeLeftOvers(parent: string, now: number): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(beginning)) continue;
    const directory = join(parent, name);
    try {
      const found = lstatSync(directory);
      const isOwn = found.isDirectory() && found.uid === process.getuid?.();
      if (!isOwn || now - found.mtimeMs < newMs) continue;
      lockDataDirectory(join(directory, 'data')).release();
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // A demo that runs holds its lock.
    }
  }
}
