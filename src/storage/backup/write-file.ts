import { closeSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isPresent, permissionDenied, presenceOf } from '../../runtime/presence.ts';
import { diskSpace } from '../lmdb/disk-space.ts';
import { isLocked, lockWritten } from '../lmdb/lock.ts';
import { syncPath } from '../lmdb/sync.ts';
import { FileWriter } from './file-writer.ts';
import type { Sink } from './write-backup.ts';

/** Space to leave free on the disk for the service's commits. */
const reserveBytes = 64 * 1024 * 1024;

/**
 * Writes a file under another name, and renames it once all of it is on disk. A previous file stays until then.
 * @param write writes to the sink
 * @throws {Error} if the disk is full, or has no room for the expected size; the previous file is unchanged
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

/** Removes files that killed runs of this user left beside a file. A run in progress holds a lock on its own. */
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

/** Whether a process of this machine, or of this container, is running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Checks that a file of a given size fits on the disk. @throws {Error} if it does not */
export function checkRoom(file: string, bytes: number): void {
  if (diskSpace(dirname(file)).free < bytes + reserveBytes) throw noRoom(file, bytes);
}

function open(made: string, file: string): FileWriter {
  if (presenceOf(file)?.isDirectory())
    throw new Error(`Cannot write ${file}: it is a directory; specify a file in it`);
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
    bytes === undefined ? '' : ` (it needs ${Math.ceil(bytes / 2 ** 20)} MiB, plus 64 MiB for the service)`;
  return new Error(`Cannot write ${file}: no space left on device${needed}. The previous file is unchanged`);
}
