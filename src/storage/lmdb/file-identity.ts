import { readlinkSync, statSync } from 'node:fs';
import { constants } from 'node:os';

/** The path of an open file no longer refers to it. Writes to it are lost when it is closed. */
class FileGone extends Error {
  override readonly name = 'FileGone';
  /** The code, a number as in system errors. */
  readonly code = constants.errno.ENOENT;

  constructor(file: string) {
    super(`${file} was removed, moved or replaced while it was in use`);
  }
}

export interface FileIdentity {
  /** @throws {FileGone} if it is not */
  check(): void;
  /** The size of the file at its path. */
  bytes(): number;
}

/** Remembers the inode of a file that was just opened. Comparing it later takes a few microseconds. */
export function identifyFile(file: string): FileIdentity {
  const opened = statSync(file);
  return {
    check() {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined || found.ino !== opened.ino || found.dev !== opened.dev)
        throw new FileGone(file);
    },
    bytes: () => statSync(file, { throwIfNoEntry: false })?.size ?? 0,
  };
}

/**
 * Checks before each write whether a file that was just opened is still at its path. If the kernel reports the path of a
 * descriptor, the inode is not read. Since Linux 6.13, reading an inode's times makes the next write change them, rather than one
 * every few milliseconds. A flush may then have to write the inode, too.
 * @returns a function that throws `FileGone` if it is not
 */
export function checkOpenFile(file: string, descriptor: number): () => void {
  const link = `/proc/self/fd/${descriptor}`;
  const opened = linkTarget(link);
  if (opened === undefined) return identifyFile(file).check;
  return () => {
    if (linkTarget(link) !== opened) throw new FileGone(file);
  };
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
