import type { Histogram } from '../../runtime/histogram.ts';
import { signals } from '../../runtime/thread-calls.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import type { JournalPlace } from '../journal/place.ts';
import { ProducerCommitter } from './committer.ts';
import type { Envelope } from './envelope.ts';

import { FrameSlot, JournalState, type ProducerMemory } from './journal-memory.ts';
import type { JournalActions, JournalStart } from './journal-worker.ts';

export class JournalThread {
  /** Time that calls waited for the thread, in seconds. */
  readonly delays: Histogram;
  /** The memory for each of the other threads that append to the journal. */
  readonly producers: readonly ProducerMemory[];
  readonly state = new JournalState();
  readonly #thread: WorkerThread<JournalActions>;
  readonly #own: ProducerCommitter;
  #isClosed = false;

  /** @param file path of the compiled journal-worker.ts @param producers number of other threads that append */
  constructor(file: string, place: JournalPlace, producers = 0) {
    const slots = Array.from({ length: 1 + producers }, () => new FrameSlot(place.segmentSize));
    const memory = { slots: slots.map(({ shared }) => shared), state: this.state.shared };
    this.#thread = new WorkerThread(file, { ...place, ...memory } satisfies JournalStart);
    this.delays = this.#thread.delays;
    const [own, ...others] = slots.map(({ shared }) => ({
      slot: shared,
      state: memory.state,
      bell: this.#thread.bell,
      bellAt: signals.calls,
    }));
    this.#own = new ProducerCommitter(own!);
    this.producers = others;
    void this.#thread.ended.then(() => {
      for (const slot of slots) slot.end();
    });
  }

  /** Sets the last frame of the journal, before the first batch. */
  begin(last: number): void {
    this.state.publish({ sequence: last, bytes: 0, segment: 0, used: 0 });
  }

  append(envelope: Envelope): Promise<void> {
    return this.#own.commit(envelope);
  }

  /**
   * Calls `appended` once per `wakeBytes` of frames, and after the first frame that follows a call of `expectFrame`.
   */
  async watch(appended: () => void): Promise<void> {
    if (this.producers.length === 0) return;
    for (let seen = this.state.wakes; !this.#isClosed; ) {
      await this.state.woken(seen);
      seen = this.state.wakes;
      appended();
    }
  }

  expectFrame(): void {
    if (this.producers.length > 0) this.state.arm();
  }

  collect(): void {
    this.#own.collect();
    this.#thread.collect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.state.wake();
    await this.#thread.close();
  }
}
