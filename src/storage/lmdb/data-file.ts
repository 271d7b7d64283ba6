import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { isStoreFailure } from '../../runtime/failures.ts';
import { isPresent, readable } from '../../runtime/presence.ts';
import { checkPages, endsEarly } from './check-pages.ts';

/** Time for checking the files before they are opened, ms. The rest is checked later. */
const budgetMs = 1000;

/** The data files that exist in a data directory. @throws {Error} if this user may not see whether they do */
export function dataFilesIn(data: string): readonly string[] {
  return ['accounts', 'usage'].map((name) => join(data, name, 'data.mdb')).filter(isPresent);
}

/**
 * Makes sure that the files of a data directory can be opened. LMDB maps a file into memory, and access beyond its end
 * kills the process (SIGBUS). Call this once, before anything is written.
 * @returns false when time ran out before everything was checked
 * @throws {Error} that names the file, the fault and the remedy
 */
export function checkDataFiles(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): boolean {
  const end = clock.monotonic() + budgetMs;
  checkPresence(data);
  return dataFilesIn(data)
    .map((file) => check(file, () => clock.monotonic() < end))
    .every(Boolean);
}

/** @throws {Error} if there are data files but not that of the accounts, to which the others refer */
export function checkPresence(data: string): void {
  const accounts = join(data, 'accounts/data.mdb');
  // Usage of lost applications must not be attributed to new ones that get the same numbers.
  if (!isPresent(accounts) && dataFilesIn(data).length > 0) throw cannotOpen(accounts, 'it is missing');
}

function check(file: string, hasTime: () => boolean): boolean {
  const descriptor = readable(file, () => openSync(file, 'r+')); // LMDB's own error for a read-only file does not name it.
  try {
    // A truncated file is checked completely, however long that takes: a missing page would kill the process.
    const mayContinue = endsEarly(descriptor) ? () => true : hasTime;
    const checking = checkPages(descriptor);
    for (let step = checking.next(); ; step = checking.next()) {
      if (step.done && step.value !== undefined) throw cannotOpen(file, step.value);
      if (step.done || !mayContinue()) return step.done === true;
    }
  } finally {
    closeSync(descriptor);
  }
}

export const remedy = 'restore the data directory from a backup, or move it away to start without its data';

/** The error for a file that cannot be opened. */
export function cannotOpen(file: string, fault: string): Error {
  return new Error(`Cannot open ${file}: ${fault}; ${remedy}`);
}

/**
 * Reads a store while it is being opened, and explains a failure: well-formed pages may contain damaged records.
 * @throws {Error} that names the file, the fault and the remedy
 */
export async function explainDamage<T>(
  data: string,
  store: 'accounts' | 'usage',
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw cannotOpen(join(data, store, 'data.mdb'), `its contents cannot be read (${error.message})`);
  }
}

/** LMDB's own error codes are negative; system errors are positive. */
function isDamage(error: unknown): error is Error {
  if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return true;
  return isStoreFailure(error) && (error as Error & { code: number }).code < 0;
}
