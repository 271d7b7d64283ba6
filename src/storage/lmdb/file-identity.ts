import { readlinkSync, statSync } from 'node:fs';
import { constants } from 'node:os';

/** An open file is no longer at its path: what is written to it is lost when it is closed. */
class FileGone extends Error {
  override readonly name = 'FileGone';
  /** A number, as system errors have it. */
  readonly code = constants.errno.ENOENT;

  constructor(file: string) {
    super(`${file} was removed, moved or replaced while it was in use`);
  }
}

/** Tells whether an open file is still the one at its path. */
export interface FileIdentity {
  /** @throws {FileGone} when it is not */
  check(): void;
  /** The size of what is at its path. */
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
 * Checks whether a file that was just opened is still at its path, as often as it is written. Where the kernel reports the path of a
 * descriptor, no inode is read: once its times were read, Linux 6.13 and later change them with the next write, rather than every few
 * milliseconds, and a flush may then write the inode, too.
 * @returns throws `FileGone` when it is not
 */
export function checkOpenFile(file: string, descriptor: number): () => void {
  const link = `/proc/self/fd/${descriptor}`;
  const opened = linkTarget(link);
  if (opened === undefined) return identifyFile(file).check;
  return () => {
    if (linkTarget(link) !== opened) throw new FileGone(file);
  };
}

/** Where a symbolic link points; `undefined` if it is missing. */
function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
