import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Failure } from '../failure.ts';

/** A line without a text. */
interface Unreadable {
  readonly reason: string;
}

const notText: Unreadable = { reason: 'not UTF-8' };
const tooLong: Unreadable = { reason: 'longer than 1 MiB' };

/** Some lines of a file. */
export interface Lines {
  /** The number of the first one, from 1. */
  readonly first: number;
  /** Without line ends. */
  readonly texts: readonly (string | Unreadable)[];
  /** The bytes of these lines. Without lines, the beginning of a line that is too long. */
  readonly bytes: Uint8Array;
}

/** Lines up to this length are read, and none of twice this length. */
const chunkBytes = 1024 * 1024;
const lineFeed = 10;

/** A file of lines, which may be read several times. It must not change meanwhile. */
export class LineFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  readonly #file: number;
  readonly #changedAt: number;

  /** @throws {Failure} if the file cannot be opened */
  constructor(path: string) {
    this.path = path;
    try {
      this.#file = openSync(path, 'r');
    } catch (error) {
      throw new Failure('failed', `Cannot read ${path}: ${(error as Error).message}`);
    }
    const status = fstatSync(this.#file);
    this.size = status.size;
    this.#changedAt = status.mtimeMs;
    if (status.isFile()) return;
    this.close();
    throw new Failure('failed', `Cannot import ${path}: not a regular file`);
  }

  /** Reads the lines from the beginning. @throws {Failure} if the file has changed */
  *lines(): Generator<Lines> {
    const memory = Buffer.alloc(2 * chunkBytes);
    let length = 0;
    let at = 0;
    let first = 1;
    let isCut = false;
    for (;;) {
      this.#checkUnchanged();
      const read = readSync(this.#file, memory, length, chunkBytes, at);
      at += read;
      length += read;
      const end = read === 0 ? length : memory.subarray(0, length).lastIndexOf(lineFeed) + 1;
      if (end > 0 || (read === 0 && isCut)) {
        const bytes = memory.subarray(0, end);
        const texts = textsOf(bytes);
        if (isCut) texts[0] = tooLong;
        isCut = false;
        yield { first, texts, bytes };
        first += texts.length;
      }
      if (read === 0) return;
      memory.copyWithin(0, end, length);
      length -= end;
      if (length <= chunkBytes) continue;
      yield { first, texts: [], bytes: memory.subarray(0, length) };
      length = 0;
      isCut = true;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #checkUnchanged(): void {
    const { size, mtimeMs } = fstatSync(this.#file);
    if (size === this.size && mtimeMs === this.#changedAt) return;
    throw new Failure('failed', `Cannot import ${this.path}: it has changed meanwhile; import it again`);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function textsOf(bytes: Buffer): (string | Unreadable)[] {
  const whole = decode(bytes);
  const texts = whole?.split('\n') ?? linesOf(bytes).map(decode);
  if (texts.at(-1) === '') texts.pop();
  return texts.map((text) => (text?.endsWith('\r') ? text.slice(0, -1) : (text ?? notText)));
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return lines;
}

/** The text of some bytes; `undefined` if they are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
