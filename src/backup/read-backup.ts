import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
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
  const shown = file === standardInput ? 'standard input' : file;
  const descriptor = file === standardInput ? 0 : openSync(file, 'r');
  try {
    const stat = fstatSync(descriptor);
    const total = stat.isFile() ? stat.size : 0;
    const input = new Input(descriptor, shown);
    return await new BackupReader(input, shown, reader).read(() => pace.rest({ done: input.at, total }));
  } finally {
    if (file !== standardInput) closeSync(descriptor);
  }
}

/** Gives what a file has, in order. */
class Input {
  at = 0;
  readonly #descriptor: number;
  readonly #file: string;

  constructor(descriptor: number, file: string) {
    this.#descriptor = descriptor;
    this.#file = file;
  }

  /** @throws {Error} when fewer bytes are left */
  take(length: number): Buffer {
    const bytes = this.rest(length);
    if (bytes.length < length)
      throw new Error(`Cannot use ${this.#file}: it is cut off after ${this.at} bytes; take another backup`);
    return bytes;
  }

  /** At most `length` bytes. */
  rest(length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const read = readSync(this.#descriptor, buffer, filled, length - filled, null);
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
  readonly #file: string;
  readonly #reader: Reader;
  readonly #chain = new BlockChain();
  #pages = 0;
  #last = { store: 0, page: -1 };

  constructor(input: Input, file: string, reader: Reader) {
    this.#input = input;
    this.#file = file;
    this.#reader = reader;
  }

  async read(rest: () => Promise<void>): Promise<Description> {
    if (!this.#input.rest(magic.length).equals(magic))
      throw this.#unusable('it is not a backup of flagmeter');
    const description = this.#describe();
    this.#reader.described?.(description);
    for (;;) {
      const { kind, content } = this.#block();
      if (kind === blockKind.end) {
        this.#end(description, content);
        return description;
      }
      if (kind !== blockKind.pages) throw this.#altered();
      this.#takePages(description, content);
      await rest();
    }
  }

  #block(): { readonly kind: number; readonly content: Buffer } {
    const head = this.#input.take(headBytes);
    const length = head.readUInt32LE(4);
    if (length > maxContentBytes) throw this.#altered();
    const content = this.#input.take(length);
    const digest = this.#input.take(digestBytes);
    if (!this.#chain.digest([head, content]).equals(digest)) throw this.#altered();
    return { kind: head[0]!, content };
  }

  #describe(): Description {
    const { kind, content } = this.#block();
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

  #end({ stores }: Description, content: Buffer): void {
    const { pages } = JSON.parse(content.toString()) as End;
    const described = stores.reduce((sum, each) => sum + each.pages, 0);
    if (pages !== this.#pages || pages !== described) throw this.#altered();
    if (this.#input.rest(1).length > 0)
      throw this.#unusable('something follows its end; take another backup');
  }

  #altered(): Error {
    return this.#unusable(
      `it is altered: the block that ends at byte ${this.#input.at} does not fit its checksum; take another backup`,
    );
  }

  #unusable(why: string): Error {
    return new Error(`Cannot use ${this.#file}: ${why}`);
  }
}
