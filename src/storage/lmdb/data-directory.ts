import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { isStoreFailure } from '../../runtime/failures.ts';
import { isPresent, readable } from '../../runtime/files.ts';
import { checkPages, endsEarly } from './check-pages.ts';
import { probeDisk, shortageIn, syncPath } from './disk.ts';

/** Time limit for checking the files before they are opened, ms. The remaining pages are checked later. */
const budgetMs = 1000;

/** The directory of a store in the data directory. */
export type StoreName = 'accounts' | 'usage' | 'spool';

/** The stores that a server on a single machine uses. A node has a spool as well. */
export const ownStores = ['accounts', 'usage'] as const;

export function getDataFile(data: string, store: StoreName): string {
  return join(data, store, 'data.mdb');
}

/** The existing data files of a data directory. @throws {Error} if this user has no permission to see them */
export function dataFilesIn(data: string, stores: readonly StoreName[] = [...ownStores, 'spool']): readonly string[] {
  return stores.map((store) => getDataFile(data, store)).filter(isPresent);
}

/**
 * Checks the files of a data directory before they are opened. LMDB maps a file into memory, and access beyond the end
 * of the file kills the process (SIGBUS). Call this function once, before the first write.
 * @returns false if the time limit was reached before everything was checked
 * @throws {Error} that names the file, the fault and the remedy
 */
export function checkDataFiles(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): boolean {
  const end = clock.monotonic() + budgetMs;
  checkPresence(data);
  return dataFilesIn(data)
    .map((file) => check(file, () => clock.monotonic() < end))
    .every(Boolean);
}

/** @throws {Error} if the directory has usage, but lacks the accounts to which the usage refers */
export function checkPresence(data: string): void {
  const accounts = getDataFile(data, 'accounts');
  // A new application would otherwise get the number of a lost application, and thus its usage.
  if (!isPresent(accounts) && isPresent(getDataFile(data, 'usage'))) throw cannotOpen(accounts, 'it is missing');
}

/**
 * Returns the missing data file of a data directory with accounts; `undefined` if no file is missing. A node without a
 * usage store loads its usage from PostgreSQL, but only its spool has the node's latest counts.
 * @param copy the state of the accounts: see `readCopyState`
 */
export function missingFile(data: string, copy: { readonly adopting?: true } | undefined): string | undefined {
  const isNode = copy !== undefined && !copy.adopting;
  const needed: StoreName[] = isNode ? [] : ['usage'];
  if (copy !== undefined) needed.push('spool');
  return needed.map((store) => getDataFile(data, store)).find((file) => !isPresent(file));
}

function check(file: string, hasTime: () => boolean): boolean {
  const descriptor = readable(file, () => openSync(file, 'r+')); // LMDB does not name a read-only file.
  try {
    // Checks a truncated file without a time limit, because access to a missing page would kill the process.
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

export function cannotOpen(file: string, fault: string): Error {
  return new Error(`Cannot open ${file}: ${fault}; ${remedy}`);
}

/**
 * Reads a store at startup, and explains errors of damaged records.
 * @throws {Error} from `cannotOpen`
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
    throw cannotOpen(getDataFile(data, store), `its contents cannot be read (${error.message})`);
  }
}

/** True if an error shows a damaged store. Codes of LMDB itself are negative, codes of the system are positive. */
function isDamage(error: unknown): error is Error {
  if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return true;
  return isStoreFailure(error) && (error as Error & { code: number }).code < 0;
}

/** Directory in which new directories are filled. After a power loss, the next run removes it. */
const stagingName = 'prepare.tmp';

/** Directory with complete new directories. After an interruption, the next run moves them: see `finishCreation`. */
const completeName = 'prepared.tmp';

/**
 * Creates directories in a data directory: all directories, or none.
 * @param make fills a staging directory in place of the data directory, and closes everything that it opened
 * @throws {Error} the error of `make`, or an error if the disk is full. The data directory is then unchanged
 */
export async function createAtomically(data: string, make: (staging: string) => Promise<void>): Promise<void> {
  const staging = join(data, stagingName);
  rmSync(staging, { recursive: true, force: true });
  try {
    mkdirSync(staging, { mode: 0o700 });
    await make(staging);
    for (const path of readdirSync(staging, { recursive: true, encoding: 'utf8' })) syncPath(join(staging, path));
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

/** True if an error means a full disk, which LMDB reports only as a failed write. */
function isFull(data: string, error: unknown): boolean {
  const named = shortageIn(error) ?? shortageIn((error as Error).cause ?? {});
  return (named ?? (isStoreFailure(error) ? probeDisk(data) : undefined)) === 'space';
}

function noSpace(data: string, cause: unknown): Error {
  const must = 'free some space, or choose a directory on another disk with --data';
  return new Error(`Cannot write to ${data}: no space left on device; ${must}. Nothing was changed`, { cause });
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
