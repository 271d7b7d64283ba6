import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { checkOpenFile, shortageIn, syncPath } from '../lmdb/disk.ts';

/** The directory of a journal. Every operation is synchronous, and throws the file system's error. */
export interface JournalFiles {
  readonly directory: string;
  list(): string[];
  size(name: string): number | undefined;
  /** @param mode `create` makes an empty file, and replaces an existing file */
  open(name: string, mode: 'read' | 'write' | 'create'): JournalFile;
  rename(from: string, to: string): void;
  /** Removes a file if it exists. */
  remove(name: string): void;
  /** Waits until the entries of the directory are on disk. */
  syncDirectory(): void;
}

export interface JournalFile {
  /** @returns the number of bytes that were read, fewer than requested only at the end of the file */
  read(target: Uint8Array, offset: number): number;
  /** @returns the number of bytes that were written */
  write(bytes: Uint8Array, offset: number): number;
  /** Waits until the written bytes are on disk (fdatasync). */
  sync(): void;
  /** @throws {Error} if another file, or no file, is at the path. Writes would then be lost */
  checkPlace(): void;
  close(): void;
}

export function writeAndSync(files: JournalFiles, name: string, bytes: Uint8Array, offset: number): void {
  const file = files.open(name, 'write');
  try {
    const written = file.write(bytes, offset);
    if (written < bytes.length)
      throw new Error(`${written} of ${bytes.length} bytes were written to ${join(files.directory, name)}`);
    file.sync();
  } finally {
    file.close();
  }
}

/** Pause between attempts to open a file while too many files are open, ms. The next constant limits the attempts. */
const retryMs = 20;
const mostAttempts = 100;

/**
 * Opens the directory of a journal, and creates a missing directory. While too many files are open, opening a file is
 * retried for two seconds. During these seconds the server closes surplus connections, so that senders need not send
 * packets again.
 */
export function journalDirectory(directory: string, pause = sleep): JournalFiles {
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined) syncPath(dirname(directory));
  const at = (name: string) => join(directory, name);
  const open = <T>(action: () => T) => openedSoon(action, pause);
  return {
    directory,
    list: () => open(() => readdirSync(directory)),
    size: (name) => statSync(at(name), { throwIfNoEntry: false })?.size,
    open: (name, mode) => open(() => openFile(at(name), mode)),
    rename: (from, to) => renameSync(at(from), at(to)),
    remove: (name) => rmSync(at(name), { force: true }),
    syncDirectory: () => open(() => syncPath(directory)),
  };
}

/** @param action opens a file, and has no effect if it fails */
function openedSoon<T>(action: () => T, pause: (ms: number) => void): T {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return action();
    } catch (error) {
      if (shortageIn(error) !== 'files' || attempt === mostAttempts) throw error;
      pause(retryMs);
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const flags = { read: 'r', write: 'r+', create: 'w+' };

function openFile(path: string, mode: keyof typeof flags): JournalFile {
  const descriptor = openSync(path, flags[mode], 0o600);
  return {
    read: (target, offset) => readFully(descriptor, target, offset),
    write: (bytes, offset) => writeSync(descriptor, bytes, 0, bytes.length, offset),
    sync: () => fdatasyncSync(descriptor),
    checkPlace: checkOpenFile(path, descriptor),
    close: () => closeSync(descriptor),
  };
}

function readFully(descriptor: number, target: Uint8Array, offset: number): number {
  for (let filled = 0; filled < target.length; ) {
    const read = readSync(descriptor, target, filled, target.length - filled, offset + filled);
    if (read === 0) return filled;
    filled += read;
  }
  return target.length;
}
