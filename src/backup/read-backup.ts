import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import {
  BlockChain,
  blockKind,
  type Description,
  digestBytes,
  type End,
  formatNumber,
  headBytes,
  magic,
  maxContentBytes,
  pagesHeadBytes,
} from './format.ts';
import type { Pace } from './pace.ts';

/** Consecutive pages of a store. */
export interface Pages {
  /** The number of the store in the description. */
  readonly store: number;
  readonly first: number;
  readonly content: Buffer;
}

/** What is done with a backup while it is read. */
export interface Reader {
  described?(description: Description): void;
  /** The content is valid until it returns. */
  pages?(pages: Pages): void;
}

/** The name of standard input. */
export const standardInput = '-';

/**
 * Reads a backup and checks all of it. What the reader got is good when this resolves, and not before.
 * @returns its description
 * @throws {Error} that names the file, when it is no backup, is cut off or altered, or a later version wrote it
 */
export async function readBackup(file: string, reader: Reader, pace: Pace): Promise<Description> {
  if (file === standardInput) {
    const input = new Input(fromStandardInput(pace), 'standard input');
    try {
      return await new BackupReader(input, reader).read(() => pace.rest({ done: input.at, total: 0 }));
    } finally {
      // What still comes is not waited for.
      process.stdin.destroy();
    }
  }
  const descriptor = open(file);
  try {
    const total = fstatSync(descriptor).size;
    const input = new Input((buffer) => readSync(descriptor, buffer, 0, buffer.length, null), file);
    return await new BackupReader(input, reader).read(() => pace.rest({ done: input.at, total }));
  } finally {
    closeSync(descriptor);
  }
}

function open(file: string): number {
  const isDirectory = statSync(file, { throwIfNoEntry: false })?.isDirectory();
  if (isDirectory === undefined) throw new Error(`Cannot use ${file}: there is no such file`);
  if (isDirectory) throw new Error(`Cannot use ${file}: it is a directory; name a backup`);
  return openSync(file, 'r');
}

/** Fills a part of a buffer. @returns how much; 0 at the end */
type Source = (buffer: Buffer) => number | Promise<number>;

/** What writes to a pipe may be silent for a while. */
function fromStandardInput(pace: Pace): Source {
  const chunks = process.stdin[Symbol.asyncIterator]();
  let chunk = Buffer.alloc(0);
  return async (buffer) => {
    if (chunk.length === 0) {
      const { done, value } = await pace.wait(chunks.next());
      if (done) return 0;
      chunk = value as typeof chunk;
    }
    const copied = chunk.copy(buffer);
    chunk = chunk.subarray(copied);
    return copied;
  };
}

/** Gives what a source has, in order. */
class Input {
  at = 0;
  readonly file: string;
  readonly #source: Source;

  constructor(source: Source, file: string) {
    this.#source = source;
    this.file = file;
  }

  /** @throws {Error} when fewer bytes are left */
  async take(length: number): Promise<Buffer> {
    const bytes = await this.rest(length);
    if (bytes.length < length)
      throw new Error(`Cannot use ${this.file}: it is cut off after ${this.at} bytes; take another backup`);
    return bytes;
  }

  /** At most `length` bytes. */
  async rest(length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const read = await this.#source(buffer.subarray(filled));
      if (read === 0) break;
      filled += read;
    }
    this.at += filled;
    return buffer.subarray(0, filled);
  }
}

/** Reads the blocks of one backup. */
class BackupReader {
  readonly #input: Input;
  readonly #reader: Reader;
  readonly #chain = new BlockChain();
  #pages = 0;
  #last = { store: 0, page: -1 };

  constructor(input: Input, reader: Reader) {
    this.#input = input;
    this.#reader = reader;
  }

  async read(rest: () => Promise<void>): Promise<Description> {
    if (!(await this.#input.rest(magic.length)).equals(magic))
      throw this.#unusable('it is not a backup of flagmeter');
    const description = await this.#describe();
    this.#reader.described?.(description);
    for (;;) {
      const { kind, content } = await this.#block();
      if (kind === blockKind.end) {
        await this.#end(description, content);
        return description;
      }
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

  async #describe(): Promise<Description> {
    const { kind, content } = await this.#block();
    if (kind !== blockKind.description) throw this.#altered();
    const description = JSON.parse(content.toString()) as Description;
    if (description.format > formatNumber)
      throw this.#unusable(
        `flagmeter ${description.program} wrote it in format ${description.format}, and this version knows formats up to ${formatNumber}; use a later version`,
      );
    return description;
  }

  #takePages({ stores }: Description, content: Buffer): void {
    const [store, first] = [content.readUInt32LE(0), content.readDoubleLE(4)];
    const pages = content.subarray(pagesHeadBytes);
    const described = stores[store];
    const count = pages.length / (described?.pageSize ?? 1);
    const isAfter = store > this.#last.store || (store === this.#last.store && first > this.#last.page);
    if (
      described === undefined ||
      !isAfter ||
      first + count > described.lastPage + 1 ||
      !Number.isInteger(count)
    )
      throw this.#altered();
    this.#last = { store, page: first + count - 1 };
    this.#pages += count;
    this.#reader.pages?.({ store, first, content: pages });
  }

  async #end({ stores }: Description, content: Buffer): Promise<void> {
    const { pages } = JSON.parse(content.toString()) as End;
    const described = stores.reduce((sum, each) => sum + each.pages, 0);
    if (pages !== this.#pages || pages !== described) throw this.#altered();
    if ((await this.#input.rest(1)).length > 0)
      throw this.#unusable('something follows its end; take another backup');
  }

  #altered(): Error {
    return this.#unusable(
      `it is altered: the block that ends at byte ${this.#input.at} does not fit its checksum; take another backup`,
    );
  }

  #unusable(why: string): Error {
    return new Error(`Cannot use ${this.#input.file}: ${why}`);
  }
}
