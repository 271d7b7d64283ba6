import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { describeFileError } from '../../contract/file-errors.ts';
import type { Arguments } from '../command.ts';
import { Failure } from '../failure.ts';
import { UsageError } from '../options.ts';
import { csvReader, ndjsonReader, unleashReader, unleashVariantsReader, VariantChecks } from './readers.ts';
import type { RowReader, RowSink } from './rows.ts';

/** A line that cannot be read as text. */
interface Unreadable {
  readonly reason: string;
}

const notText: Unreadable = { reason: 'not UTF-8' };
const tooLong: Unreadable = { reason: 'longer than 1 MiB' };

interface Lines {
  /** Number of the first line, from 1. */
  readonly first: number;
  /** Lines without their line terminators. */
  readonly texts: readonly (string | Unreadable)[];
  /** The bytes of these lines, or, if `texts` is empty, the beginning of a line that is too long. */
  readonly bytes: Uint8Array;
}

/** Lines up to this length are always read. Lines of twice this length are always rejected as too long. */
const chunkBytes = 1024 * 1024;
const lineFeed = 10;

/** A file that is read line by line, possibly several times. It must not change between two readings. */
class LineFile {
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  readonly #file: number;
  readonly #changedAt: number;

  /** @throws {Failure} if the file cannot be opened */
  constructor(path: string) {
    this.path = path;
    try {
      this.#file = openSync(path, 'r');
    } catch (error) {
      throw new Failure('failed', `Cannot read ${path}: ${describeFileError(error)}`);
    }
    const status = fstatSync(this.#file);
    this.size = status.size;
    this.#changedAt = status.mtimeMs;
    if (status.isFile()) return;
    this.close();
    throw new Failure('failed', `Cannot import ${path}: not a regular file`);
  }

  /** @throws {Failure} if the file has changed */
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
        const texts = decodeLines(bytes);
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
    throw new Failure('failed', `Cannot import ${this.path}: it has changed during the import; import it again`);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decodeLines(bytes: Buffer): (string | Unreadable)[] {
  const whole = decode(bytes);
  const texts = whole?.split('\n') ?? splitLines(bytes).map(decode);
  if (texts.at(-1) === '') texts.pop();
  return texts.map((text) => (text?.endsWith('\r') ? text.slice(0, -1) : (text ?? notText)));
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return lines;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A line that is not a valid row. */
export interface BadLine {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
  /** The line itself; `undefined` if it is not UTF-8 or too long. */
  readonly text: string | undefined;
}

interface SourceFile {
  readonly file: LineFile;
  /** @param header the first line, if the format has a header */
  createReader(header: string): RowReader;
}

export const importFormats = ['csv', 'ndjson', 'unleash'] as const;
type ImportFormat = (typeof importFormats)[number];

/** The files of an import. Each reading gives the same rows in the same order. */
export class Source {
  readonly format: ImportFormat;
  readonly #files: readonly SourceFile[];
  readonly #covered = new VariantChecks();
  /** The first line of the main file, if the format has a header. */
  header: string | undefined;

  /** @throws {Failure} if a file cannot be opened @throws {UsageError} */
  constructor(path: string, given: Arguments) {
    this.format = given.value('format') as ImportFormat;
    const variants = given.value('variants');
    if (variants !== undefined && this.format !== 'unleash')
      throw new UsageError('Cannot use --variants without --format unleash');
    const covered = this.#covered;
    const readers = {
      csv: (header: string) => csvReader(path, header),
      ndjson: ndjsonReader,
      unleash: (header: string) => unleashReader(path, header, covered),
    };
    const main = { file: new LineFile(path), createReader: readers[this.format] };
    // The variants file is read first, because its checks are subtracted from `yes` and `no` of the main file.
    this.#files = variants === undefined ? [main] : [variantsFile(variants, covered), main];
  }

  /** Size in bytes. */
  get size(): number {
    return this.#files.reduce((sum, { file }) => sum + file.size, 0);
  }

  /**
   * @param sink receives the contents of the rows
   * @param bad receives the lines that are not rows
   * @returns yields the number of bytes read so far
   * @throws {Failure} if a file cannot be read
   */
  *read(sink: RowSink, bad: (line: BadLine) => void = () => {}): Generator<number> {
    let done = 0;
    for (const { file, createReader } of this.#files) {
      let reader = this.format === 'ndjson' ? createReader('') : undefined;
      for (const { first, texts, bytes } of file.lines()) {
        for (const [at, line] of texts.entries()) {
          const text = typeof line === 'string' ? line : undefined;
          if (reader === undefined) {
            reader = createReader(text ?? '');
            this.header = text;
            continue;
          }
          if (text === '') continue;
          const reason = typeof line === 'string' ? reader.read(line, sink) : line.reason;
          if (reason !== undefined) bad({ path: file.path, line: first + at, reason, text });
        }
        done += bytes.length;
        yield done;
      }
    }
    this.#covered.isComplete = true;
  }

  /** SHA-256 of the contents of the files, hexadecimal. */
  digest(): string {
    const digests = this.#files.map(({ file }) => {
      const hash = createHash('sha256');
      for (const { bytes } of file.lines()) hash.update(bytes);
      return hash.digest('hex');
    });
    return digests.join(' ');
  }

  close(): void {
    for (const { file } of this.#files) file.close();
  }
}

function variantsFile(path: string, covered: VariantChecks): SourceFile {
  return { file: new LineFile(path), createReader: (header) => unleashVariantsReader(path, header, covered) };
}
