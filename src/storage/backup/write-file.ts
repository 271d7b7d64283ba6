import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { explainFileError, findStatus, isPresent } from '../../runtime/files.ts';
import { diskSpace, shortageIn, syncPath } from '../lmdb/disk.ts';
import { isLocked, lockWritten } from '../lmdb/lock.ts';
import type { Sink } from './write-backup.ts';

/** Space to leave free on the disk for the service's commits. */
const reserveBytes = 64 * 1024 * 1024;

/**
 * Writes a file under another name, and renames the file once all of it is on disk.
 * @throws {Error} if the disk is full, or has less free space than the expected size. The previous file is unchanged
 */
export async function writeFileWhole<T>(file: string, write: (sink: Sink) => Promise<T>): Promise<T> {
  refuseSpecialFile(file);
  const made = `${file}.${process.pid}.tmp`;
  removeLeftovers(file);
  const writer = open(made, file);
  const lock = lockWritten(made);
  try {
    const written = await write({
      expect: (bytes) => checkRoom(file, bytes),
      write: async (chunks) => writer.write(chunks),
    });
    writer.end();
    renameSync(made, file);
    syncPath(dirname(file));
    return written;
  } catch (error) {
    rmSync(made, { force: true });
    throw shortageIn(error) === 'space' ? noRoom(file) : error;
  } finally {
    writer.close();
    closeSync(lock);
  }
}

/** @throws {Error} for a device, a pipe or a link, which the renamed file would replace */
function refuseSpecialFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile() || found.isDirectory()) return;
  throw new Error(`Cannot write ${file}: it is not a regular file; name a file, or write to - and redirect the output`);
}

/** Removes files that killed processes of this user left next to a file. Keeps locked files: they are in use. */
function removeLeftovers(file: string): void {
  const folder = dirname(file);
  if (!isPresent(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(`${basename(file)}.`) && /^\d+(?=\.tmp$)/.exec(name.slice(basename(file).length + 1));
    if (!pid || (Number(pid[0]) !== process.pid && isRunning(Number(pid[0])))) continue;
    const left = join(folder, name);
    const found = lstatSync(left, { throwIfNoEntry: false });
    if (found?.isFile() && found.uid === process.getuid?.() && !isLocked(left)) rmSync(left, { force: true });
  }
}

/** True if a process of this machine, or of this container, is running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function checkRoom(file: string, bytes: number): void {
  if (diskSpace(dirname(file)).free < bytes + reserveBytes) throw noRoom(file, bytes);
}

function open(made: string, file: string): FileWriter {
  if (findStatus(file)?.isDirectory()) throw new Error(`Cannot write ${file}: it is a directory; specify a file in it`);
  try {
    return new FileWriter(made);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'its directory does not exist' : explainFileError(error, dirname(file));
    throw new Error(`Cannot write ${file}: ${why}`, { cause: error });
  }
}

function noRoom(file: string, bytes?: number): Error {
  const needed =
    bytes === undefined ? '' : ` (the file needs ${Math.ceil(bytes / 2 ** 20)} MiB, plus 64 MiB for the service)`;
  return new Error(`Cannot write ${file}: no space left on device${needed}. The previous file is unchanged`);
}

const { O_WRONLY, O_CREAT, O_EXCL, O_DIRECT } = constants;

const chunkBytes = 2 * 1024 * 1024;

/** The length of each direct write is a multiple of this number of bytes. */
const blockBytes = 4096;

/**
 * Allocates memory for direct writes. Its address must be a multiple of the disk's block size. In Node.js and Bun, only
 * WebAssembly memory always starts at a page.
 */
function alignedMemory(): Buffer {
  const pageBytes = 64 * 1024;
  return Buffer.from(new WebAssembly.Memory({ initial: chunkBytes / pageBytes }).buffer);
}

/**
 * Writes a new file sequentially, with direct I/O if the file system supports it. Direct I/O does not evict the
 * service's store from the page cache, and keeps syncs short. A long sync would delay the service's own syncs. Without
 * direct I/O, each chunk is therefore synced.
 */
export class FileWriter {
  readonly #path: string;
  readonly #chunk: Buffer;
  #descriptor: number;
  #isDirect = true;
  #filled = 0;
  /** Number of bytes written to the disk. */
  #bytes = 0;

  /** @throws {Error} if the file exists or cannot be created */
  constructor(path: string, chunk = alignedMemory()) {
    this.#path = path;
    this.#chunk = chunk;
    this.#descriptor = this.#open(O_CREAT | O_EXCL);
  }

  write(chunks: readonly Buffer[]): void {
    for (const chunk of chunks)
      for (let at = 0; at < chunk.length; ) {
        const copied = chunk.copy(this.#chunk, this.#filled, at);
        at += copied;
        this.#filled += copied;
        if (this.#filled === this.#chunk.length) this.#flush(this.#filled);
      }
  }

  end(): void {
    const size = this.#bytes + this.#filled;
    const padded = Math.ceil(this.#filled / blockBytes) * blockBytes;
    this.#chunk.fill(0, this.#filled, padded);
    if (padded > 0) this.#flush(padded);
    ftruncateSync(this.#descriptor, size);
    fsyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #open(flags: number): number {
    const open = (more: number) => openSync(this.#path, O_WRONLY | flags | more, 0o600);
    if (!this.#isDirect) return open(0);
    try {
      return open(O_DIRECT);
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.#isDirect = false;
      // Opens the file without `O_EXCL`, because some file systems create the file before they reject direct I/O.
      return openSync(this.#path, O_WRONLY | O_CREAT, 0o600);
    }
  }

  #flush(bytes: number): void {
    try {
      this.#put(bytes);
    } catch (error) {
      if (!this.#isDirect || !isRefused(error)) throw error;
      this.#isDirect = false;
      closeSync(this.#descriptor);
      this.#descriptor = this.#open(0);
      this.#put(bytes);
    }
    this.#bytes += bytes;
    this.#filled = 0;
  }

  #put(bytes: number): void {
    const written = writeSync(this.#descriptor, this.#chunk, 0, bytes, this.#bytes);
    if (written < bytes) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    if (!this.#isDirect) fdatasyncSync(this.#descriptor);
  }
}

function isRefused(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EINVAL';
}
