import { closing } from '../../runtime/answer-calls.ts';
import type { Histogram } from '../../runtime/histogram.ts';
import { type Outcome, WorkerThread } from '../../runtime/worker-thread.ts';
import { CommitFailed } from './committer.ts';
import { type Envelope, encodeEnvelope } from './envelope.ts';
import type { JournalPlace } from './fold.ts';
import { type Appended, FrameMemory } from './frame-memory.ts';

/** Options of the journal's thread, besides its channel. */
export interface JournalStart extends JournalPlace {
  readonly memory: SharedArrayBuffer;
}

/** The service's handle to the thread that appends to a journal: see journal-worker.ts. */
export class JournalThread {
  /** Time that calls waited for the thread, in seconds. */
  readonly delays: Histogram;
  readonly #thread: WorkerThread;
  readonly #memory: FrameMemory;

  /** @param file path of the compiled journal-worker.ts */
  constructor(file: string, place: JournalPlace) {
    this.#memory = new FrameMemory(place.segmentSize);
    this.#thread = new WorkerThread(file, { ...place, memory: this.#memory.shared } satisfies JournalStart);
    this.delays = this.#thread.delays;
  }

  /** Sets the last frame of the journal, before the first append. */
  begin(last: number): void {
    void this.#thread.call('begin', last);
  }

  /**
   * Resolves when the batch is on disk. Nothing else may be appended meanwhile.
   * @throws {CommitFailed}
   */
  async append(envelope: Envelope): Promise<Appended> {
    this.#memory.put(encodeEnvelope(envelope));
    resultOf(await this.#thread.ring());
    return this.#memory.appended;
  }

  collect(): void {
    this.#thread.collect();
  }

  async close(): Promise<void> {
    await this.#thread.call(closing);
    await this.#thread.ended();
  }
}

/** @throws {CommitFailed} if the call failed */
export function resultOf(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.value;
  throw new CommitFailed(outcome.message, outcome.code);
}
