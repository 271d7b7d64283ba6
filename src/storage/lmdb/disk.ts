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

/** A temporary lack of disk space or of file descriptors. */
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
 * Returns the shortage that an error code means; `undefined` for other errors. The code of an error is a name in Node,
 * and a number in LMDB.
 */
export function shortageIn(error: unknown): Shortage | undefined {
  return shortages.get((error as { code?: unknown }).code);
}

/** State of the disk. `broken`: writes fail for a reason other than a shortage. */
export type DiskState = 'writable' | Shortage | 'broken';

/** Number of bytes that a probe writes. The commit of a full batch needs less. */
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

/** Error for an open file that was removed or replaced at its path. Data written to such a file is lost. */
class FileGoneError extends Error {
  override readonly name = 'FileGoneError';
  /** The code as a number, as in system errors. */
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

/** Remembers the inode of a file that was just opened. Comparing the inode later takes a few microseconds. */
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
 * Returns a check that an open file is still at its path. If possible, the check reads the path of the descriptor
 * instead of the inode. Since Linux 6.13, a write changes the times of an inode only every few milliseconds, unless the
 * times were read. Reading the inode would thus make each flush also write the inode.
 * @returns a function that throws `FileGoneError`; call it before each write
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
