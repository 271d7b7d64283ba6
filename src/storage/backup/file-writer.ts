import { closeSync, constants, fdatasyncSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';

const { O_WRONLY, O_CREAT, O_EXCL, O_DIRECT } = constants;

/** Bytes per write. */
const chunkBytes = 2 * 1024 * 1024;

/** Direct writes are multiples of this. */
const blockBytes = 4096;

/**
 * Memory for direct writes, whose address must be a multiple of the disk's block size. Only WebAssembly memory is certain to start
 * at a page in both runtimes.
 */
function alignedMemory(): Buffer {
  const pageBytes = 64 * 1024;
  return Buffer.from(new WebAssembly.Memory({ initial: chunkBytes / pageBytes }).buffer);
}

/**
 * Writes a new file sequentially, with direct I/O if the file system supports it. Direct I/O keeps the page cache for the service's
 * store and leaves little for a sync to do, which the service's own syncs would wait for. Without direct I/O, each chunk is
 * synced.
 */
export class FileWriter {
  readonly #path: string;
  readonly #chunk: Buffer;
  #descriptor: number;
  #isDirect = true;
  #filled = 0;
  /** Bytes on the disk. */
  #bytes = 0;

  /** @throws {Error} if the file exists or cannot be created */
  constructor(path: string, chunk = alignedMemory()) {
    this.#path = path;
    this.#chunk = chunk;
    this.#descriptor = this.#open(O_CREAT | O_EXCL);
  }

  write(parts: readonly Buffer[]): void {
    for (const part of parts)
      for (let at = 0; at < part.length; ) {
        const copied = part.copy(this.#chunk, this.#filled, at);
        at += copied;
        this.#filled += copied;
        if (this.#filled === this.#chunk.length) this.#flush(this.#filled);
      }
  }

  /** Waits until the whole file is on disk. */
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
      // Some file systems create the file before they fail.
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

/** Whether the error means that the file system or its disk does not support direct I/O. */
function isRefused(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EINVAL';
}
