import { statSync } from 'node:fs';
import { constants } from 'node:os';

/** A file in use is not where it was opened any more: what is written to it is lost as soon as it is closed. */
export class FileGone extends Error {
  override readonly name = 'FileGone';
  /** As the system's errors have it. */
  readonly code = constants.errno.ENOENT;

  constructor(file: string) {
    super(`${file} was removed, moved or replaced while it was in use`);
  }
}

/** Where a file was opened. */
export interface FileIdentity {
  /** @throws {FileGone} when the file is not there any more */
  check(): void;
}

/** Remembers the inode of a file that was just opened. To compare it later takes some microseconds. */
export function identifyFile(file: string): FileIdentity {
  const opened = statSync(file);
  return {
    check() {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined || found.ino !== opened.ino || found.dev !== opened.dev)
        throw new FileGone(file);
    },
  };
}
