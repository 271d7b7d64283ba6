import { closeSync, openSync, readSync } from 'node:fs';
import { findStatus, readable } from '../../runtime/files.ts';
import { newestMetaIn } from '../lmdb/check-pages.ts';
import { currentLayout, layouts } from '../lmdb/layout.ts';
import type { BackupKey } from './backup-key.ts';
import {
  BlockChain,
  blockKind,
  countPageBytes,
  coveredBy,
  type Description,
  digestBytes,
  formatNumber,
  headBytes,
  magic,
  maxContentBytes,
  metaPageCount,
  pagesHeadBytes,
  readDescription,
  readEnd,
  readFormat,
} from './format.ts';
import type { Pace } from './pace.ts';

export interface Pages {
  /** The index of the store in the description. */
  readonly store: number;
  readonly first: number;
  readonly content: Buffer;
}

export interface Reader {
  described?(description: Description): void;
  /** Receives pages. Their content is valid until the call returns. */
  pages?(pages: Pages): void;
}

/** A backup that is read once, from its beginning. */
export interface BackupStream {
  /** Name for messages. */
  readonly name: string;
  /** Size in bytes; absent if it is not known in advance. */
  readonly size?: number;
  /** Reads the next bytes into the start of a buffer. @returns the number of bytes; 0 at the end */
  read(buffer: Buffer): number | Promise<number>;
  close(): void;
}

/** The path of a file, or a stream. */
export type BackupSource = string | BackupStream;

export interface Authentication {
  /** The key. Without a key, no MAC is verified. */
  readonly key?: BackupKey | undefined;
  /** True to accept a backup with an unverified MAC if no key is specified. */
  readonly mayBeUnchecked: boolean;
}

/** Rejects a backup that has a MAC. */
export const withoutKey: Authentication = { mayBeUnchecked: false };

export interface ReadBackup extends Description {
  readonly mac: 'none' | 'unchecked' | 'checked';
}

/**
 * Reads a backup and checks all of it. Trust the data that the reader received only once the promise resolves.
 * @throws {Error} that names the file, if it is not a backup, is truncated or altered, or was written by a later
 * version. Also throws if the MAC is missing or wrong, or cannot be verified although this is required
 */
export async function readBackup(
  source: BackupSource,
  reader: Reader,
  pace: Pace,
  authentication: Authentication = withoutKey,
): Promise<ReadBackup> {
  const stream = typeof source === 'string' ? openFile(source) : source;
  try {
    const input = new Input(stream);
    const rest = () => pace.rest({ done: input.at, total: stream.size ?? 0 });
    return await new BackupReader(input, reader, authentication).read(rest);
  } finally {
    stream.close();
  }
}

/** Name for messages. */
export function nameBackup(source: BackupSource): string {
  return typeof source === 'string' ? source : source.name;
}

/** Returns the size of the file of a backup. @throws {Error} if the file does not exist, or is a directory */
export function measureBackup(file: string): number {
  const found = findStatus(file);
  if (found === undefined) throw new Error(`Cannot use ${file}: no such file; name another file, or mount its volume`);
  if (found.isDirectory())
    throw new Error(`Cannot use ${file}: it is a directory; specify a backup file, or add --latest`);
  return found.size;
}

function openFile(file: string): BackupStream {
  const size = measureBackup(file);
  const descriptor = readable(file, () => openSync(file, 'r'));
  return {
    name: file,
    size,
    read: (buffer) => readSync(descriptor, buffer, 0, buffer.length, null),
    close: () => closeSync(descriptor),
  };
}

/** Opens standard input. A read can be interrupted, because the writer of a pipe can pause. */
export function openStandardInput(pace: Pace): BackupStream {
  const chunks = process.stdin[Symbol.asyncIterator]();
  return {
    name: 'standard input',
    read: readChunks(async () => {
      const { done, value } = await pace.wait(chunks.next());
      return done ? undefined : (value as Buffer);
    }),
    // A pipe might never end, so the rest of the input is not awaited.
    close: () => void process.stdin.destroy(),
  };
}

/** Reads a sequence of chunks. @param next returns the next chunk; `undefined` at the end */
export function readChunks(next: () => Promise<Buffer | undefined>): BackupStream['read'] {
  let chunk = Buffer.alloc(0);
  return async (buffer) => {
    if (chunk.length === 0) {
      const following = await next();
      if (following === undefined) return 0;
      chunk = following as typeof chunk;
    }
    const copied = chunk.copy(buffer);
    chunk = chunk.subarray(copied);
    return copied;
  };
}

class Input {
  at = 0;
  readonly #stream: BackupStream;

  constructor(stream: BackupStream) {
    this.#stream = stream;
  }

  get file(): string {
    return this.#stream.name;
  }

  get size(): number | undefined {
    return this.#stream.size;
  }

  /** @throws {Error} if fewer bytes are left */
  async take(length: number): Promise<Buffer> {
    const bytes = await this.rest(length);
    if (bytes.length < length) throw this.truncated(this.at);
    return bytes;
  }

  truncated(bytes: number): Error {
    return new Error(`Cannot use ${this.file}: it is truncated after ${bytes} bytes; use another backup`);
  }

  async rest(length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const read = await this.#stream.read(buffer.subarray(filled));
      if (read === 0) break;
      filled += read;
    }
    this.at += filled;
    return buffer.subarray(0, filled);
  }
}

class BackupReader {
  readonly #input: Input;
  readonly #reader: Reader;
  readonly #authentication: Authentication;
  readonly #chain = new BlockChain();
  readonly #pages = [0, 0];
  #last = { store: 0, page: -1 };

  constructor(input: Input, reader: Reader, authentication: Authentication) {
    this.#input = input;
    this.#reader = reader;
    this.#authentication = authentication;
  }

  async read(rest: () => Promise<void>): Promise<ReadBackup> {
    const start = await this.#input.rest(magic.length);
    if (!magic.subarray(0, start.length).equals(start)) throw this.#unusable('it is not a flagmeter backup');
    if (start.length < magic.length) throw this.#input.truncated(start.length);
    const description = await this.#describe();
    this.#reader.described?.(description);
    for (;;) {
      const before = this.#chain.last;
      const { kind, content } = await this.#block();
      if (kind === blockKind.end) return { ...description, mac: await this.#end(description, content, before) };
      if (kind !== blockKind.pages) throw this.#altered();
      this.#takePages(description, content);
      await rest();
    }
  }

  async #block(): Promise<{ readonly kind: number; readonly content: Buffer }> {
    const head = await this.#input.take(headBytes);
    const length = head.readUInt32LE(4);
    if (length > maxContentBytes) throw this.#altered();
    const content = await this.#input.take(length);
    const digest = await this.#input.take(digestBytes);
    if (!this.#chain.digest([head, content]).equals(digest)) throw this.#altered();
    return { kind: head[0]!, content };
  }

  #checkLayouts({ program, stores }: Description): void {
    for (const { store, layout } of stores) {
      const known = currentLayout(layouts.find((each) => each.store === store)!);
      if (layout > known)
        throw this.#unusable(
          `flagmeter ${program} wrote its ${store} in layout ${layout}, and this version supports layouts up to ${known}; use a later version`,
        );
    }
  }

  async #describe(): Promise<Description> {
    const { kind, content } = await this.#block();
    const later = readFormat(content);
    if (kind !== blockKind.description || later === undefined) throw this.#impossible('description');
    if (later.format > formatNumber)
      throw this.#unusable(
        `flagmeter ${later.program} wrote it in format ${later.format}, and this version supports formats up to ${formatNumber}; use a later version`,
      );
    const description = readDescription(content);
    if (description === undefined) throw this.#impossible('description');
    const { size } = this.#input;
    // Checked here, so that a short file cannot cause an allocation of the described size.
    if (size !== undefined && size <= countPageBytes(description)) throw this.#input.truncated(size);
    this.#checkLayouts(description);
    return description;
  }

  #takePages({ stores }: Description, content: Buffer): void {
    if (content.length <= pagesHeadBytes) throw this.#impossible('block of pages');
    const store = content.readUInt32LE(0);
    const first = content.readDoubleLE(4);
    const pages = content.subarray(pagesHeadBytes);
    const described = stores[store];
    if (described === undefined || !Number.isSafeInteger(first)) throw this.#impossible('block of pages');
    const { pageSize, lastPage } = described;
    const count = pages.length / pageSize;
    const isInPlace = Number.isInteger(count) && first > this.#getLastPage(store) && first + count <= lastPage + 1;
    const fits = first >= metaPageCount || this.#areMetaPages(first, pages, described);
    if (!isInPlace || !fits) throw this.#impossible('block of pages');
    this.#last = { store, page: first + count - 1 };
    this.#pages[store]! += count;
    this.#reader.pages?.({ store, first, content: pages });
  }

  /** The number of the last page read from a store. The pages of a store are complete before the next store begins. */
  #getLastPage(store: number): number {
    if (store === this.#last.store) return this.#last.page;
    return store > this.#last.store ? -1 : Number.POSITIVE_INFINITY;
  }

  #areMetaPages(first: number, pages: Buffer, { pageSize, lastPage }: Description['stores'][number]): boolean {
    if (first !== 0 || pages.length !== metaPageCount * pageSize) return false;
    const meta = newestMetaIn(pages);
    return meta?.pageSize === pageSize && meta.lastPage === lastPage;
  }

  async #end({ stores }: Description, content: Buffer, before: Buffer): Promise<ReadBackup['mac']> {
    const end = readEnd(content);
    const areAllThere = stores.every(({ pages }, store) => pages === this.#pages[store]);
    const total = stores.reduce((sum, { pages }) => sum + pages, 0);
    if (!areAllThere || end?.pages !== total) throw this.#impossible('end');
    if ((await this.#input.rest(1)).length > 0) throw this.#unusable('data follows its end; use another backup');
    return this.#authenticate(end.mac, coveredBy(end, before));
  }

  #authenticate(mac: string | undefined, covered: readonly Buffer[]): ReadBackup['mac'] {
    const { key, mayBeUnchecked } = this.#authentication;
    if (mac === undefined) {
      if (key === undefined) return 'none';
      throw this.#unusable(
        'it has no MAC: it was made without --backup-key-file, or its MAC was removed; omit --backup-key-file if you trust this file',
      );
    }
    if (key === undefined) {
      if (mayBeUnchecked) return 'unchecked';
      throw this.#unusable(
        'it has a MAC, but no key was specified; use --backup-key-file, or --skip-mac-check if you trust this file',
      );
    }
    if (key.fits(mac, covered)) return 'checked';
    throw this.#unusable(
      'its MAC is wrong: it was altered, or made with another key than the key in --backup-key-file; use another backup, or specify the right key',
    );
  }

  #altered(): Error {
    return this.#unusable(
      `it is altered: the block that ends at byte ${this.#input.at} does not match its checksum; use another backup`,
    );
  }

  /** Returns the error for impossible content with a right checksum, which only a defect or a person can write. */
  #impossible(part: string): Error {
    return this.#unusable(
      `it is altered: its ${part} that ends at byte ${this.#input.at} was not written by flagmeter; use another backup`,
    );
  }

  #unusable(why: string): Error {
    return new Error(`Cannot use ${this.#input.file}: ${why}`);
  }
}
