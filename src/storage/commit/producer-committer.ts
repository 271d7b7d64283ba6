import { CommitFailed, type Committer } from './committer.ts';
import { type Envelope, encodeEnvelope } from './envelope.ts';
import { FrameSlot, type ProducerMemory } from './frame-slot.ts';
import { JournalState } from './journal-state.ts';

/** Commits batches of one thread to a journal that several threads share. Its thread writes what waits with one flush. */
export class ProducerCommitter implements Committer {
  readonly #slot: FrameSlot;
  readonly #state: JournalState;
  readonly #bell: Int32Array;
  readonly #bellAt: number;
  #answered = 0;
  #settle = () => {};
  /** The commit in flight, or the last one. */
  #current: Promise<unknown> = Promise.resolve();

  constructor({ slot, state, bell, bellAt }: ProducerMemory) {
    this.#slot = new FrameSlot(slot);
    this.#state = new JournalState(state);
    this.#bell = bell;
    this.#bellAt = bellAt;
  }

  /** As `Committer.commit`. Only one commit may be in flight. */
  async commit(envelope: Envelope): Promise<void> {
    this.#slot.put(encodeEnvelope(envelope));
    await this.#answer();
    const { failure } = this.#slot;
    if (failure !== undefined) throw new CommitFailed(failure.message, failure.code);
  }

  /** Upkeep belongs to the thread that owns the journal. */
  async maintain(): Promise<number> {
    return 0;
  }

  /** Without an answer, this costs one read of shared memory. */
  collect(): void {
    const { answered } = this.#slot;
    if (answered === this.#answered) return;
    this.#answered = answered;
    this.#settle();
  }

  /** Bytes of the journal that are not folded. Costs a few nanoseconds. */
  get unfoldedBytes(): number {
    return this.#state.unfoldedBytes;
  }

  /** Resolves when the commit in flight is answered. The journal stays open for the other threads. */
  async close(): Promise<void> {
    await this.#current;
  }

  #answer(): Promise<void> {
    const answer = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
    this.#current = answer;
    void this.#slot.next(this.#answered).then(() => this.collect());
    if (!this.#slot.ring(this.#bell, this.#bellAt)) this.#settle();
    return answer;
  }
}
