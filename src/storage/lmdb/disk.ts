import { closeSync, fdatasyncSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

/** Size of a path's file system, and the space that this process may still use, in bytes. */
export function diskSpace(path: string): { readonly size: number; readonly free: number } {
  const { bsize, blocks, bavail } = statfsSync(path);
  return { size: bsize * blocks, free: bsize * bavail };
}

/** A temporary lack of space on a file system, or of descriptors. */
export type Shortage = 'space' | 'files';

const shortages = new Map<unknown, Shortage>(
  (
    [
      ['ENOSPC', 'space'],
      ['EDQUOT', 'space'],
      ['EFBIG', 'space'],
      ['EMFILE', 'files'],
      ['ENFILE', 'files'],
    ] as const
  ).flatMap(([code, shortage]) => [
    [code, shortage],
    [constants.errno[code], shortage],
  ]),
);

/** The shortage that an error reports, by the name in Node's errors or the number in LMDB's; `undefined` for other errors. */
export function shortageIn(error: unknown): Shortage | undefined {
  return shortages.get((error as { code?: unknown }).code);
}

/** A shortage: cannot be written now, but is otherwise sound. `broken`: cannot be written for any other reason. */
export type DiskState = 'writable' | Shortage | 'broken';

/** More than the commit of a full batch needs. */
const probeBytes = 16 * 1024 * 1024;

/** Tests the data directory by writing to it, because LMDB reports a full disk as a generic I/O error. */
export function probeDisk(data: string): DiskState {
  const file = join(data, 'probe.tmp');
  const zeros = Buffer.alloc(probeBytes);
  try {
    const descriptor = openSync(file, 'w', 0o600);
    try {
      for (let written = 0; written < probeBytes; ) written += writeSync(descriptor, zeros, written);
      fdatasyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return 'writable';
  } catch (error) {
    return shortageIn(error) ?? 'broken';
  } finally {
    rmSync(file, { force: true });
  }
}

/** Waits until a file, or the entries of a directory, are on disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
