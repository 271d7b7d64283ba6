import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import { type DataLock, lockDataDirectory } from '../storage/lmdb/lock.ts';

/** The temporary data directory of one demo. */
export interface TempData {
  readonly data: string;
  readonly lock: DataLock;
  remove(): void;
}

const prefix = 'flagmeter-demo-';

/** A younger directory may belong to a demo that is about to lock it. */
const minAgeMs = 60_000;

/**
 * Creates a data directory, and removes those of killed demos. It is removed at the latest when the process exits.
 * @param parent the temp directory
 * @throws {Error} when it cannot be created
 */
export function makeTempData(parent: string, clock: Pick<Clock, 'now'>): TempData {
  removeAbandoned(parent, clock.now());
  const directory = mkdtempSync(join(parent, prefix));
  const erase = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', erase);
  const data = join(directory, 'data');
  const lock = lockDataDirectory(data);
  const remove = () => {
    lock.release();
    erase();
  };
  return { data, lock, remove };
}

/** Skips a directory that cannot be removed, or that a running demo has locked. */
function removeAbandoned(parent: string, now: number): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const directory = join(parent, name);
    try {
      const found = lstatSync(directory);
      const isOwn = found.isDirectory() && found.uid === process.getuid?.();
      if (!isOwn || now - found.mtimeMs < minAgeMs) continue;
      lockDataDirectory(join(directory, 'data')).release();
      rmSync(directory, { recursive: true, force: true });
    } catch {}
  }
}
