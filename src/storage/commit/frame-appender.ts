import { prepareSpare } from '../journal/directory.ts';
import { JournalFull } from '../journal/errors.ts';
import type { Journal } from '../journal/segment.ts';
import { JournalWriter } from '../journal/writer.ts';
import { hasMessages, joinBodies } from './envelope.ts';
import type { FrameSlot, JournalState, SlotFailure } from './journal-memory.ts';

/** Approximate maximum bytes of a frame that joins batches of several threads. */
const joinedBytes = 1024 * 1024;

/** Appends the batches of several threads to a journal. Every call is synchronous, so use a separate thread. */
export class FrameAppender {
  readonly #journal: Journal;
  readonly #slots: readonly FrameSlot[];
  readonly #state: JournalState;
  /** The writer, `undefined` until the first batch creates the segment, so that startup does not wait for the disk. */
  #writer: JournalWriter | undefined;

  /** @param slots one slot for each thread; a frame has the batches in the order of the slots */
  constructor(journal: Journal, slots: readonly FrameSlot[], state: JournalState) {
    this.#journal = journal;
    this.#slots = slots;
    this.#state = state;
  }

  /**
   * Appends the waiting batches. Settles each batch once it is on disk.
   * @param observe receives the time at which a batch was passed to this thread
   */
  appendWaiting(observe: (at: number) => void): void {
    let group: FrameSlot[] = [];
    let bytes = 0;
    for (const slot of this.#slots) {
      const rungAt = slot.take();
      if (rungAt === undefined) continue;
      observe(rungAt);
      const { frame } = slot;
      if (group.length > 0 && (bytes + frame.length > joinedBytes || hasMessages(frame))) {
        this.#append(group);
        group = [];
        bytes = 0;
      }
      group.push(slot);
      bytes += frame.length;
    }
    if (group.length > 0) this.#append(group);
  }

  close(): void {
    this.#writer?.close();
  }

  /**
   * Appends the batches of some threads as one frame, with one write and one flush. Either all of these batches are
   * stored, or no batch. With several frames in one write, a power loss could destroy only the first frame, which would
   * look like damage.
   */
  #append(group: readonly FrameSlot[]): void {
    let failure: SlotFailure | undefined;
    try {
      const bodies = group.map(({ frame }) => frame);
      this.#appendFrame(bodies.length === 1 ? bodies : joinBodies(bodies));
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown };
      failure = { message, code };
    }
    for (const slot of group) slot.settle(failure);
  }

  #appendFrame(chunks: readonly Uint8Array[]): void {
    const { sequence: last, bytes: before } = this.#state.tail;
    this.#writer ??= new JournalWriter(this.#journal, last);
    const writer = this.#writer;
    const sequence = this.#appendTo(writer, chunks);
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, before);
    this.#state.publish({ sequence, bytes, segment: writer.position.generation, used: writer.used });
  }

  /**
   * Appends to the segment. The folding thread prepares spare segments. If a long fold delays the spare, this thread
   * prepares a segment itself while the batch waits.
   */
  #appendTo(writer: JournalWriter, chunks: readonly Uint8Array[]): number {
    try {
      return writer.append(chunks);
    } catch (error) {
      if (!(error instanceof JournalFull)) throw error;
      for (const _ of prepareSpare(this.#journal, 'urgent.tmp'));
      return writer.append(chunks);
    }
  }
}
