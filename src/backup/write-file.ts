import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, rmSync, writevSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { diskSpace } from '../store/disk-space.ts';
import { syncPath } from '../store/sync.ts';
import type { Sink } from './write-backup.ts';

/** What stays free on the disk: the service needs room for its commits. */
const reserveBytes = 64 * 1024 * 1024;

/**
 * How much is written before it is on disk: a commit of the service waits for all that is on its way there. Beside a service it is
 * less, and the disk rests after it for as long as it took.
 */
const syncEveryBytes = { alone: 8 * 1024 * 1024, gentle: 4 * 1024 * 1024 };

/**
 * Writes a file under another name, and gives it its own when all of it is on disk: what was there before stays until then.
 * @param write writes to the sink
 * @throws {Error} when the disk is full, or has no room for what is expected; the file is as it was
 */
export async function writeFileWhole<T>(
  file: string,
  write: (sink: Sink) => Promise<T>,
  { gentle = false }: { readonly gentle?: boolean } = {},
): Promise<T> {
  const made = `${file}.${process.pid}.tmp`;
  const descriptor = open(made, file);
  let isOpen = true;
  try {
    const written = await write(sinkOf(descriptor, file, gentle));
    fsyncSync(descriptor);
    closeSync(descriptor);
    isOpen = false;
    renameSync(made, file);
    syncPath(dirname(file));
    return written;
  } catch (error) {
    if (isOpen) closeSync(descriptor);
    rmSync(made, { force: true });
    throw isFull(error) ? noRoom(file) : error;
  }
}

/** Makes sure that a file of a size fits beside another. @throws {Error} when it does not */
export function checkRoom(file: string, bytes: number): void {
  if (diskSpace(dirname(file)).free < bytes + reserveBytes) throw noRoom(file, bytes);
}

function open(made: string, file: string): number {
  try {
    return openSync(made, 'wx', 0o600);
  } catch (error) {
    throw new Error(`Cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function sinkOf(descriptor: number, file: string, gentle: boolean): Sink {
  const most = gentle ? syncEveryBytes.gentle : syncEveryBytes.alone;
  let unsynced = 0;
  return {
    expect: (bytes) => checkRoom(file, bytes),
    async write(parts) {
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      if (writevSync(descriptor, parts as Buffer[]) < length) throw noRoom(file);
      unsynced += length;
      if (unsynced < most) return;
      const began = systemClock.monotonic();
      fdatasyncSync(descriptor);
      unsynced = 0;
      if (gentle) await rest(systemClock.monotonic() - began);
    },
  };
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
