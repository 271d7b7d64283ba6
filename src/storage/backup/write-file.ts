import { closeSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isPresent, permissionDenied, presenceOf } from '../../runtime/presence.ts';
import { isRunning } from '../../runtime/running.ts';
import { diskSpace } from '../lmdb/disk-space.ts';
import { isLocked, lockWritten } from '../lmdb/lock.ts';
import { syncPath } from '../lmdb/sync.ts';
import { FileWriter } from './file-writer.ts';
import type { Sink } from './write-backup.ts';

/** What stays free on the disk: the service needs room for its commits. */
const reserveBytes = 64 * 1024 * 1024;

/**
 * Writes a file under another name, and gives it its own when all of it is on disk: what was there before stays until then.
 * @param write writes to the sink
 * @throws {Error} when the disk is full, or has no room for what is expected; the file is as it was
 */
export async function writeFileWhole<T>(file: string, write: (sink: Sink) => Promise<T>): Promise<T> {
  const made = `${file}.${process.pid}.tmp`;
  removeLeftovers(file);
  const writer = open(made, file);
  const lock = lockWritten(made);
  try {
    const written = await write({
      expect: (bytes) => checkRoom(file, bytes),
      write: async (parts) => writer.write(parts),
    });
    writer.end();
    renameSync(made, file);
    syncPath(dirname(file));
    return written;
  } catch (error) {
    rmSync(made, { force: true });
    throw isFull(error) ? noRoom(file) : error;
  } finally {
    writer.close();
    closeSync(lock);
  }
}

/** Removes what killed runs of this user have left beside a file. A run that goes on has locked its own. */
function removeLeftovers(file: string): void {
  const folder = dirname(file);
  if (!isPresent(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid =
      name.startsWith(`${basename(file)}.`) && /^\d+(?=\.tmp$)/.exec(name.slice(basename(file).length + 1));
    if (!pid || (Number(pid[0]) !== process.pid && isRunning(Number(pid[0])))) continue;
    const left = join(folder, name);
    const found = lstatSync(left, { throwIfNoEntry: false });
    if (found?.isFile() && found.uid === process.getuid?.() && !isLocked(left)) rmSync(left, { force: true });
  }
}

/** Makes sure that a file of a size fits beside another. @throws {Error} when it does not */
export function checkRoom(file: string, bytes: number): void {
  if (diskSpace(dirname(file)).free < bytes + reserveBytes) throw noRoom(file, bytes);
}

function open(made: string, file: string): FileWriter {
  if (presenceOf(file)?.isDirectory())
    throw new Error(`Cannot write ${file}: it is a directory; name a file in it`);
  try {
    return new FileWriter(made);
  } catch (error) {
    throw new Error(`Cannot write ${file}: ${reasonOf(error as NodeJS.ErrnoException, file)}`, {
      cause: error,
    });
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException, file: string): string {
  if (code === 'ENOENT') return 'its directory does not exist';
  if (code === 'EACCES') return permissionDenied(dirname(file));
  return message;
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function noRoom(file: string, bytes?: number): Error {
  const needed =
    bytes === undefined
      ? ''
      : ` for its ${Math.ceil(bytes / 2 ** 20)} MiB, with 64 MiB left over for the service`;
  return new Error(`Cannot write ${file}: its disk has no room${needed}; what was there before is as it was`);
}
