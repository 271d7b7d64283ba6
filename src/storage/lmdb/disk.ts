import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readlinkSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

/** Size of a path's file system, and the space that is available to this process, in bytes. */
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

/**
 * The shortage that an error reports, by the name in Node's errors or the number in LMDB's; `undefined` for other
 * errors.
 */
export function shortageIn(error: unknown): Shortage | undefined {
  return shortages.get((error as { code?: unknown }).code);
}

/** A shortage prevents writes now, but the disk is undamaged. `broken`: writes fail for any other reason. */
export type DiskState = 'writable' | Shortage | 'broken';

/** Number of bytes to probe: more than the commit of a full batch needs. */
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

/** The path of an open file no longer refers to the file. Writes to the file are lost when it is closed. */
class FileGoneError extends Error {
  override readonly name = 'FileGoneError';
  /** The code, a number as in system errors. */
  readonly code = constants.errno.ENOENT;

  constructor(file: string) {
    super(`${file} was removed, moved or replaced while it was in use`);
  }
}

export interface FileIdentity {
  /** @throws {FileGoneError} if the file is no longer at its path */
  check(): void;
  /** The size of the file at the path. */
  bytes(): number;
}

/** Remembers the inode of a file that was just opened. A later comparison takes a few microseconds. */
export function identifyFile(file: string): FileIdentity {
  const opened = statSync(file);
  return {
    check() {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined || found.ino !== opened.ino || found.dev !== opened.dev) throw new FileGoneError(file);
    },
    bytes: () => statSync(file, { throwIfNoEntry: false })?.size ?? 0,
  };
}

/**
 * Checks before each write whether a file that was just opened is still at its path. If the kernel reports the path of
 * a descriptor, the inode is not read. Since Linux 6.13, reading an inode's times makes the next write change them,
 * rather than one write every few milliseconds. A flush can then have to write the inode, too.
 * @returns a function that throws `FileGoneError` if the file is gone
 */
export function checkOpenFile(file: string, descriptor: number): () => void {
  const link = `/proc/self/fd/${descriptor}`;
  const opened = linkTarget(link);
  if (opened === undefined) return identifyFile(file).check;
  return () => {
    if (linkTarget(link) !== opened) throw new FileGoneError(file);
  };
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
