import { createHash } from 'node:crypto';
import type { Given } from '../command.ts';
import { UsageError } from '../flags.ts';
import { csvReader, ndjsonReader } from './export-readers.ts';
import { LineFile } from './line-file.ts';
import type { RowReader, RowSink } from './rows.ts';
import { Covered, unleashReader, unleashVariantsReader } from './unleash-readers.ts';

/** A line that is not a row. */
export interface BadLine {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
  /** The line itself; `undefined` if it is not UTF-8 or too long. */
  readonly text: string | undefined;
}

interface SourceFile {
  readonly file: LineFile;
  /** The reader of its rows. @param header the first line, of a format that has one */
  readerOf(header: string): RowReader;
}

export const importFormats = ['csv', 'ndjson', 'unleash'] as const;
type ImportFormat = (typeof importFormats)[number];

/** The files of an import. Each reading gives the same rows in the same order. */
export class Source {
  readonly format: ImportFormat;
  readonly #files: readonly SourceFile[];
  readonly #covered = new Covered();
  /** The first line of the main file, if the format has a header. */
  header: string | undefined;

  /** @throws {Failure} if a file cannot be opened @throws {UsageError} */
  constructor(path: string, given: Given) {
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
    const main = { file: new LineFile(path), readerOf: readers[this.format] };
    // Variants come first: they decide how much of `yes` is counted as `enabled`.
    this.#files = variants === undefined ? [main] : [variantsFile(variants, covered), main];
  }

  /** In bytes. */
  get size(): number {
    return this.#files.reduce((sum, { file }) => sum + file.size, 0);
  }

  /**
   * Reads all rows.
   * @param sink receives their contents
   * @param bad receives the lines that are not rows
   * @returns after some lines, the number of bytes read @throws {Failure} if a file cannot be read
   */
  *read(sink: RowSink, bad: (line: BadLine) => void = () => {}): Generator<number> {
    let done = 0;
    for (const { file, readerOf } of this.#files) {
      let reader = this.format === 'ndjson' ? readerOf('') : undefined;
      for (const { first, texts, bytes } of file.lines()) {
        for (const [at, line] of texts.entries()) {
          const text = typeof line === 'string' ? line : undefined;
          if (reader === undefined) {
            reader = readerOf(text ?? '');
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

function variantsFile(path: string, covered: Covered): SourceFile {
  return { file: new LineFile(path), readerOf: (header) => unleashVariantsReader(path, header, covered) };
}
