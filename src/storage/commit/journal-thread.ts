import type { Histogram } from '../../runtime/histogram.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import { CommitFailed } from './committer.ts';
import { type Envelope, encodeEnvelope } from './envelope.ts';
import type { JournalPlace } from './fold.ts';
import { type Appended, FrameMemory } from './frame-memory.ts';
import type { JournalActions, JournalStart } from './journal-worker.ts';

/** The service's handle to the thread that appends to a journal: see journal-worker.ts. */
export class JournalThread {
  /** Time that calls waited for the thread, in seconds. */
  readonly delays: Histogram;
  readonly #thread: WorkerThread<JournalActions>;
  readonly #memory: FrameMemory;

  /** @param file path of the compiled journal-worker.ts */
  constructor(file: string, place: JournalPlace) {
    this.#memory = new FrameMemory(place.segmentSize);
    this.#thread = new WorkerThread(file, { ...place, memory: this.#memory.shared } satisfies JournalStart);
    this.delays = this.#thread.delays;
  }

  begin(last: number): void {
    this.#thread.call('begin', last).catch(() => {}); // The thread has failed, and so does each append.
  }

  /** Resolves when the batch is on disk. Nothing else may be appended meanwhile. @throws {CommitFailed} */
  async append(envelope: Envelope): Promise<Appended> {
    this.#memory.put(encodeEnvelope(envelope));
    const outcome = await this.#thread.ring();
    if (!outcome.ok) throw new CommitFailed(outcome.failure.message, outcome.failure.code);
    return this.#memory.appended;
  }

  collect(): void {
    this.#thread.collect();
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
