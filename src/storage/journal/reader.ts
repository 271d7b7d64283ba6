import type { JournalFile } from './files.ts';
import {
  checksumStart,
  claimedLength,
  damage,
  decodeFrame,
  type Frame,
  frameHeader,
  frameSize,
  headerBlock,
  isBegun,
  type Journal,
  type JournalPosition,
  likelyFrames,
  placeIn,
  readAt,
  readSegments,
  refusedFrames,
  type Segment,
} from './segment.ts';

export const incompleteText = 'the last frame is incomplete: expected after a power loss, otherwise restore a backup';

/** Used in place of a sequence number for the end of the journal. */
const end = Number.POSITIVE_INFINITY;
/** Maximum number of offsets to check for a frame, because senders can choose bytes that look like many frames. */
const mostLikely = 100;

interface Reading {
  readonly segment: Segment;
  readonly window: Window;
  /** The last frame, if the writer has left the segment or failed. Later bytes were never acknowledged. */
  last: number;
  /** Offset at which the next frame begins. */
  offset: number;
}

/** Reads frames in order, from one segment to the next. */
export class JournalReader {
  readonly #journal: Journal;
  readonly #after: number;
  #reading: Reading | undefined;
  #sequence: number;
  /**
   * An incomplete frame after the last valid frame; `undefined` without such a frame. Set when `frames` has ended. A
   * power loss can leave such a frame, which was never acknowledged. A damaged last frame looks the same.
   */
  incompleteAt: { readonly segment: string; readonly offset: number } | undefined;

  /**
   * @param after the last frame that the store holds. Reading starts with the next frame
   * @throws {JournalDamageError} if a segment was changed after it was written, or if frames after `after` are missing
   */
  constructor(journal: Journal, after: number) {
    this.#journal = journal;
    this.#after = after;
    this.#sequence = after;
    this.#begin();
  }

  /** The position after the last frame that was read; `undefined` for a journal without segments. */
  get position(): JournalPosition | undefined {
    if (this.#reading === undefined) return undefined;
    const { segment, offset } = this.#reading;
    return { generation: segment.generation, offset, sequence: this.#sequence };
  }

  /**
   * Continues where the last call ended.
   * @param upTo the last frame that the writer has acknowledged; by default, the first invalid frame ends the journal
   * @throws {JournalDamageError} if a damaged frame is not the last frame, or if frames are missing
   */
  *frames(upTo = end): Generator<Frame, void> {
    this.#reading?.window.forget();
    if (upTo === end) this.#endBeforeRefusal();
    while (this.#sequence < upTo) {
      const frame = this.#next();
      if (frame === undefined) {
        if (!this.#advance(upTo)) return;
      } else if (frame.sequence > this.#after) {
        yield frame;
      }
    }
  }

  close(): void {
    this.#reading?.window.close();
    this.#reading = undefined;
  }

  /** Opens the segment that contains, or will contain, the first frame to return. */
  #begin(): void {
    const segments = readSegments(this.#journal);
    const index = segments.findLastIndex(({ first }) => first <= this.#after + 1);
    if (index >= 0) this.#open(segments, index);
    else if (segments[0] !== undefined) throw this.#missing(segments[0], this.#after + 1);
  }

  #open(segments: readonly Segment[], index: number): void {
    const segment = segments[index]!;
    // Opened before the other window is closed, because opening a file can fail.
    const window = new Window(this.#journal, segment.name);
    this.#reading?.window.close();
    this.#reading = { segment, window, last: (segments[index + 1]?.first ?? end) - 1, offset: headerBlock };
    this.#sequence = segment.first - 1;
    this.#endBeforeRefusal();
  }

  /** Ends the segment before its refused frame, which was never acknowledged. */
  #endBeforeRefusal(): void {
    if (this.#reading === undefined) return;
    const refused = refusedFrames(this.#journal.files.list()).get(this.#reading.segment.generation) ?? end;
    this.#reading.last = Math.min(this.#reading.last, refused - 1);
  }

  #next(): Frame | undefined {
    if (this.#reading === undefined || this.#sequence >= this.#reading.last) return undefined;
    const frame = this.#frameAt(this.#reading.offset);
    if (frame === undefined) return undefined;
    if (frame.sequence !== this.#sequence + 1)
      throw this.#damage(`expected frame ${this.#sequence + 1}, found frame ${frame.sequence}`);
    this.#reading.offset += frameSize(frame.body.length);
    this.#sequence++;
    return frame;
  }

  #frameAt(offset: number): Frame | undefined {
    const { segment, window } = this.#reading!;
    const header = window.read(offset, frameHeader);
    if (header.length < frameHeader) return undefined;
    const length = claimedLength(header);
    if (offset + frameSize(length) > segment.size) return undefined;
    return decodeFrame(window.read(offset, frameHeader + length), checksumStart(segment, offset));
  }

  /** Continues with the next segment. Returns false at the end of the journal. */
  #advance(upTo: number): boolean {
    if (this.#reading === undefined) {
      this.#begin();
      return this.#reading !== undefined;
    }
    const { generation } = this.#reading.segment;
    const segments = readSegments(this.#journal);
    const index = segments.findIndex((segment) => segment.generation > generation);
    const following = segments[index];
    const expected = Math.max(this.#sequence, this.#after) + 1;
    if (following !== undefined) {
      if (following.first > expected) throw this.#missing(following, expected);
      this.#open(segments, index);
      return true;
    }
    if (upTo !== end) throw this.#damage(`frame ${expected}, which was acknowledged, is damaged`);
    if (this.#sequence >= this.#reading.last) return false;
    const later = this.#laterFrame(this.#reading.offset);
    if (later !== undefined) throw this.#damage(`frame ${expected} is damaged, and frame ${later} follows`);
    const { segment, offset } = this.#reading;
    this.incompleteAt = this.#isBegun() ? { segment: segment.name, offset } : undefined;
    return false;
  }

  /** The place of an incomplete frame and the possible causes; `undefined` if the last frame is complete. */
  get incomplete(): string | undefined {
    if (this.incompleteAt === undefined) return undefined;
    const { segment, offset } = this.incompleteAt;
    return `${placeIn(this.#journal.files, segment, offset)}: ${incompleteText}`;
  }

  #isBegun(): boolean {
    const { segment, window, offset } = this.#reading!;
    const header = window.read(offset, frameHeader);
    if (header.length < frameHeader) return false;
    const length = Math.min(frameHeader + claimedLength(header), segment.size - offset);
    const bytes = window.read(offset, length);
    return isBegun(bytes, offset, this.#sequence + 1, checksumStart(segment, offset));
  }

  /**
   * Looks for a valid frame after an invalid frame. Returns the number of a valid frame that the store lacks, and
   * otherwise `undefined`.
   */
  #laterFrame(after: number): number | undefined {
    const { segment, window } = this.#reading!;
    const lowest = Math.max(this.#sequence, this.#after) + 1;
    let checks = mostLikely;
    // Chunks overlap by the length of a header, because a header can begin at the end of a chunk.
    for (let start = after; start < segment.size && checks > 0; start += chunk - frameHeader) {
      const bytes = window.read(start, Math.min(chunk, segment.size - start));
      const likely = likelyFrames(bytes, lowest, segment.size / frameHeader).slice(0, checks);
      for (const at of likely) {
        const frame = this.#frameAt(start + at);
        if (frame !== undefined) return frame.sequence;
      }
      checks -= likely.length;
    }
    return undefined;
  }

  #damage(reason: string) {
    return damage(this.#journal, this.#reading!.segment.name, this.#reading!.offset, reason);
  }

  #missing(following: Segment, expected: number) {
    const reason = `frames ${expected} to ${following.first - 1} are damaged or missing`;
    if (this.#reading !== undefined) return this.#damage(reason);
    return damage(this.#journal, following.name, 0, `${reason}: it begins with ${following.first}`);
  }
}

/** Maximum read-ahead in bytes. The first read is shorter, because the rest of the segment can still be empty. */
export const chunk = 1 << 20;
const firstChunk = 1 << 14;

/** Reads a segment in chunks of growing size. Later reads do not change the buffers that earlier reads returned. */
class Window {
  readonly #journal: Journal;
  readonly #name: string;
  readonly #file: JournalFile;
  #offset = 0;
  #bytes = Buffer.alloc(0);
  #ahead = firstChunk;

  constructor(journal: Journal, name: string) {
    this.#journal = journal;
    this.#name = name;
    this.#file = journal.files.open(name, 'read');
  }

  read(offset: number, length: number): Buffer {
    if (offset < this.#offset || offset + length > this.#offset + this.#bytes.length) this.#fill(offset, length);
    const from = offset - this.#offset;
    return this.#bytes.subarray(from, from + length);
  }

  forget(): void {
    this.#bytes = this.#bytes.subarray(0, 0);
    this.#ahead = firstChunk;
  }

  close(): void {
    this.#file.close();
  }

  #fill(offset: number, length: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(this.#ahead, length));
    const filled = readAt(this.#journal, this.#name, this.#file, bytes, offset);
    this.#bytes = bytes.subarray(0, filled);
    this.#offset = offset;
    this.#ahead = Math.min(2 * this.#ahead, chunk);
  }
}
