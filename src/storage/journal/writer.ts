import { join } from 'node:path';
import { shortageIn } from '../lmdb/disk.ts';
import { fillWithZeros, recordBegun } from './directory.ts';
import { FrameTooLarge, JournalFull, JournalWriteError } from './errors.ts';
import { type JournalFile, writeAndSync } from './files.ts';
import {
  checksumStart,
  describeSegment,
  encodeFrame,
  encodeHeader,
  frameHeader,
  framePage,
  frameSize,
  headerBlock,
  type Journal,
  type JournalPosition,
  nextGeneration,
  refusalName,
  type Segment,
  spareNames,
} from './segment.ts';

const unfinished = 'first.tmp';
const taken = 'next.tmp';

/** Appends frames. Every call is synchronous, so use a separate thread. */
export class JournalWriter {
  readonly #journal: Journal;
  #segment: Segment;
  #file: JournalFile;
  #offset = headerBlock;
  #sequence: number;
  readonly #buffer: Buffer;
  #failure: JournalWriteError | undefined;
  /** True if the next segment might have begun. Readers would then not find later frames in this segment. */
  #isLeft = false;

  /**
   * Begins a new segment in a spare, or in a short file if no spare is ready. Never appends to a segment of an earlier
   * process.
   * @param last the sequence number of the last frame, which the store holds
   * @param shortSize bytes of the short file, a multiple of 4 KiB. The first commit must not wait for a long file
   * @throws {Error} of the file system
   */
  constructor(journal: Journal, last: number, shortSize = 1 << 20) {
    this.#journal = journal;
    this.#sequence = last;
    this.#buffer = Buffer.alloc(Math.min(1 << 20, journal.segmentSize));
    const spare = spareFor(journal) ?? shortSpare(journal, shortSize);
    [this.#segment, this.#file] = beginSegment(journal, spare, last + 1);
    recordBegun(journal.files);
  }

  get position(): JournalPosition {
    return { generation: this.#segment.generation, offset: this.#offset, sequence: this.#sequence };
  }

  get used(): number {
    return this.#offset / this.#segment.size;
  }

  /**
   * Appends one frame, with one write and one flush.
   * @returns the sequence number of the frame, which is on disk
   * @throws {FrameTooLarge} if the frame fits into no segment
   * @throws {JournalFull} if the segment is full and no spare is ready. Try again later
   * @throws {JournalWriteError} if the disk failed, and on every later call
   * @throws {Error} of the file system if the disk is full, or too many files are open. Try again later
   */
  append(chunks: readonly Uint8Array[]): number {
    if (this.#failure !== undefined) throw this.#failure;
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const size = frameSize(length);
    const room = this.#journal.segmentSize - headerBlock;
    if (size > room) throw new FrameTooLarge(length, room - frameHeader);
    if (this.#isLeft || size > this.#segment.size - this.#offset) this.#rotate();
    this.#flush(this.#encode(chunks, size));
    this.#offset += size;
    return ++this.#sequence;
  }

  close(): void {
    this.#file.close();
  }

  /**
   * The bytes to write: the frame, and zeros up to the end of its last page. Because whole pages are written, the
   * kernel need not read the old contents of a recycled segment.
   */
  #encode(chunks: readonly Uint8Array[], size: number): Buffer {
    const offset = this.#offset;
    const end = Math.ceil((offset + size) / framePage) * framePage - offset;
    const bytes = end <= this.#buffer.length ? this.#buffer.subarray(0, end) : Buffer.alloc(end);
    const start = checksumStart(this.#segment, offset);
    return bytes.fill(0, encodeFrame(bytes, this.#sequence + 1, chunks, start));
  }

  #flush(bytes: Buffer): void {
    let written: number | undefined;
    try {
      written = this.#file.write(bytes, this.#offset);
      if (written < bytes.length) throw new Error(`${written} of ${bytes.length} bytes were written`);
      this.#file.sync();
      this.#file.checkPlace();
    } catch (error) {
      const isInvalid = this.#invalidate();
      // Copy-on-write file systems need space to overwrite. A later frame can use this offset: no flush has failed.
      if (written === undefined && isInvalid && shortageIn(error) === 'space') throw error;
      throw this.#fail(isInvalid || this.#recordRefusal() ? 'refused' : 'unknown', error);
    }
  }

  /** Overwrites the header of a frame whose write or flush failed. Returns true if the new header is on disk. */
  #invalidate(): boolean {
    try {
      const isWritten = this.#file.write(Buffer.alloc(frameHeader), this.#offset) === frameHeader;
      this.#file.sync();
      return isWritten;
    } catch {
      return false;
    }
  }

  /**
   * Refuses the frame by creating an empty file, which is in other blocks of the disk. Returns true if the file is on
   * disk.
   */
  #recordRefusal(): boolean {
    const { files } = this.#journal;
    try {
      files.open(refusalName(this.#segment.generation, this.#sequence + 1), 'create').close();
      files.syncDirectory();
      return true;
    } catch {
      return false;
    }
  }

  #rotate(): void {
    try {
      const spare = spareFor(this.#journal);
      if (spare === undefined) throw new JournalFull(this.#journal.files.directory);
      const [segment, file] = beginSegment(this.#journal, spare, this.#sequence + 1);
      this.#file.close();
      this.#segment = segment;
      this.#file = file;
      this.#offset = headerBlock;
      this.#isLeft = false;
    } catch (error) {
      if (error instanceof JournalFull) throw error;
      // A lack of descriptors is temporary. A retry is safe: no flush has failed, and the new segment stays empty.
      this.#isLeft = shortageIn(error) === 'files';
      if (this.#isLeft) throw error;
      throw this.#fail('refused', error);
    }
  }

  #fail(frameState: 'refused' | 'unknown', cause: unknown): JournalWriteError {
    const file = join(this.#journal.files.directory, this.#segment.name);
    this.#failure = new JournalWriteError(file, this.#offset, frameState, cause);
    return this.#failure;
  }
}

function spareFor({ files, segmentSize }: Journal): string | undefined {
  return spareNames(files.list()).find((name) => files.size(name) === segmentSize);
}

function shortSpare({ files, segmentSize }: Journal, size: number): string {
  for (const _ of fillWithZeros(files, unfinished, Math.min(size, segmentSize)));
  return unfinished;
}

/** Turns a spare file into a segment. A power loss leaves either the spare or an empty segment. */
function beginSegment({ files, id }: Journal, spare: string, first: number): [Segment, JournalFile] {
  // The name of the spare must be on disk before the old header is overwritten.
  files.syncDirectory();
  const generation = nextGeneration(files.list());
  // The rename precedes the write, because another thread can create a new spare with the same name.
  files.rename(spare, taken);
  const segment = describeSegment(id, generation, first, files.size(taken) ?? 0);
  writeAndSync(files, taken, encodeHeader(id, segment), 0);
  files.rename(taken, segment.name);
  files.syncDirectory();
  return [segment, files.open(segment.name, 'write')];
}
