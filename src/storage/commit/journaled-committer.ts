import type { TimerClock } from '../../runtime/clock.ts';
import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';
import type { WorkerThread } from '../../runtime/worker-thread.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import { CommitError, type Committer, type JournalFigures } from './committer.ts';
import type { Envelope } from './envelope.ts';
import type { FoldActions, ReplayResult } from './fold.ts';
import type { ProducerMemory, Tail } from './journal-memory.ts';
import type { JournalThread } from './journal-thread.ts';
import type { UnfoldedPeople } from './unfolded-people.ts';
import type { PeopleFreshness } from './usage-store.ts';

export interface JournaledCommitterDeps {
  readonly journal: JournalThread;
  readonly folding: WorkerThread<FoldActions>;
  readonly people?: UnfoldedPeople;
  readonly clock: Pick<TimerClock, 'after' | 'monotonic'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Called when a fold fails. The data is on disk, and the next fold tries again. */
  failed(error: unknown): void;
}

/** Maximum interval between a commit and its fold, ms. */
const foldEveryMs = 1000;
/** Bytes of unfolded frames that trigger a fold immediately. */
const foldBytes = 4 * 1024 * 1024;
/**
 * Maximum interval between a commit and the fold of its users and exposures, ms. It is long, because a fold can write a
 * separate page of the store for each person.
 */
const foldPeopleEveryMs = 30_000;
const foldPeopleBytes = 24 * 1024 * 1024;
/** Number of bytes up to which an immediate fold takes almost no time. */
const fewBytes = 256 * 1024;
/** Used fraction of a segment at which the next segment is prepared. */
const prepareFrom = 1 / 4;
/**
 * Minimum interval between folds of users and exposures, ms. Without this minimum, a console page that polls users
 * would cause a fold per request.
 */
const recentMs = 5000;
/** Requests for a fold within this period share one fold, ms. */
const sharedMs = 50;

/** Appends batches to a journal. Another thread adds (folds) the batches from the journal to the store. */
export class JournaledCommitter implements Committer, JournalFigures {
  readonly delays: Histogram;
  readonly foldDelays: Histogram;
  readonly foldTimes = new Histogram();
  failedFolds = 0;
  #noSegment = false;
  #noFold = false;
  replay = { frames: 0, seconds: 0 };
  readonly unfolded: JournalFigures['unfolded'];
  readonly people: UnfoldedPeople | undefined;
  readonly producers: readonly ProducerMemory[];
  readonly #deps: JournaledCommitterDeps;
  /** The last frame in the store, separately for `prompt` and `people` (see `Groups`). */
  readonly #folded: { prompt: Place; people: Place };
  /** Deletions for which all earlier packets are already folded. */
  readonly #foldedFor = new WeakSet<object>();
  /** The segment whose successor is ready or being prepared. */
  #preparedFor: number | undefined;
  #isTimed = false;
  #isClosed = false;
  /** The current or last fold, and its start time. */
  #current: Promise<void> = Promise.resolve();
  #beganAt = Number.NEGATIVE_INFINITY;
  /** The requested fold that has not started yet. `#nextPeople`: true if this fold includes users and exposures. */
  #next: Promise<void> | undefined;
  #nextPeople = false;
  #peopleAt = Number.NEGATIVE_INFINITY;

  constructor(deps: JournaledCommitterDeps) {
    this.#deps = deps;
    this.people = deps.people;
    this.delays = deps.journal.delays;
    this.foldDelays = deps.folding.delays;
    this.producers = deps.journal.producers;
    this.#folded = { prompt: this.#durable, people: this.#durable };
    const frames = () => this.#durable.sequence - this.#folded.people.sequence;
    this.unfolded = {
      get frames() {
        return frames();
      },
      get bytes() {
        return deps.journal.state.unfoldedBytes;
      },
    };
  }

  get journal(): JournalFigures {
    return this;
  }

  /** The last frame on disk, regardless of the thread that appended it. */
  get #durable(): Tail {
    return this.#deps.journal.state.tail;
  }

  /**
   * Folds the frames of earlier processes, and starts the journal. Call this first. The promise resolves once the
   * folding thread has opened its files, because connections can use up all descriptors later.
   * @param known the last frame if the journal is empty and the store is complete; the journal then starts immediately
   * @throws {CommitError}
   */
  async begin(known?: number): Promise<void> {
    const opened = this.#ask('open', known !== undefined);
    opened.catch(() => {}); // The promise is awaited below.
    const last = known ?? (await this.#replayed(opened));
    const { journal } = this.#deps;
    journal.begin(last);
    this.#folded.prompt = this.#folded.people = this.#durable;
    journal.expectFrame();
    void journal.watch(() => this.#followTail());
    await opened;
  }

  /** Counts and logs the replay of earlier frames. @returns the last frame */
  async #replayed(opened: Promise<ReplayResult>): Promise<number> {
    const { clock, log } = this.#deps;
    const began = clock.monotonic();
    const { frames, last, incomplete } = await opened;
    const ms = clock.monotonic() - began;
    this.replay = { frames, seconds: ms / 1000 };
    if (frames > 0) log.info('the journal was replayed', { frames, ms: Math.round(ms) });
    for (const reason of incomplete) log.warn('the end of the journal was not counted', { reason });
    return last;
  }

  get trouble(): string | undefined {
    if (this.#noSegment) return 'preparing a journal segment failed; see the log';
    return this.#noFold ? 'folding the journal into the store failed; see the log' : undefined;
  }

  async commit(envelope: Envelope): Promise<void> {
    await this.#deps.journal.append(envelope);
    this.#rememberPeople(envelope);
    this.#followTail();
  }

  /**
   * Folds all durable data. @returns the age of the users and exposures in the store, ms; 0 if they are complete
   * @throws {CommitError}
   */
  async fold(people: PeopleFreshness = 'now'): Promise<number> {
    const isLate = this.#peopleAge >= recentMs || this.#waiting('people') < fewBytes;
    const peopleToo = people === 'now' || (people === 'recent' && isLate);
    const { sequence } = this.#folded[peopleToo ? 'people' : 'prompt'];
    if (sequence < this.#durable.sequence) await this.#requestFold(peopleToo);
    const { frames } = this.unfolded;
    return people === 'recent' && !peopleToo && frames > 0 ? this.#peopleAge : 0;
  }

  async maintain(step: Maintenance): Promise<number> {
    // Folds earlier packets first, or a later fold would restore deleted data. One fold is enough: no packets follow.
    if (step.task === 'deletion' && !this.#foldedFor.has(step.deletion)) {
      await this.fold();
      this.#foldedFor.add(step.deletion);
    }
    return this.#ask('maintain', step);
  }

  collect(): void {
    this.#deps.journal.collect();
    this.#deps.folding.collect();
  }

  async close(): Promise<void> {
    const { journal, folding } = this.#deps;
    this.#isClosed = true;
    await this.#next?.catch(() => {});
    await this.#current.catch(() => {});
    await journal.close();
    try {
      await folding.call('finish');
      this.#folded.prompt = this.#folded.people = this.#durable;
    } catch {
      // If this fold fails, the next startup folds the rest.
    }
    await folding.close();
  }

  async #ask<Name extends keyof FoldActions>(name: Name, ...task: Parameters<FoldActions[Name]>) {
    try {
      return await this.#deps.folding.call(name, ...task);
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown };
      throw new CommitError(message, code);
    }
  }

  #followTail(): void {
    if (this.#isClosed) return;
    const { segment, used } = this.#durable;
    if (used > prepareFrom && segment !== this.#preparedFor) this.#prepareFor(segment);
    if (this.#waiting('prompt') >= foldBytes) void this.#requestFold(false);
    else this.#foldLater();
  }

  /** Prepares the successor of the current segment, so that no commit waits for a new segment. */
  #prepareFor(segment: number): void {
    this.#preparedFor = segment;
    const settle = (failed: boolean) => {
      this.#noSegment = failed;
      if (failed) this.#preparedFor = undefined;
    };
    this.#ask('prepare').then(
      () => settle(false),
      (error) => {
        settle(true);
        this.#deps.failed(error);
      },
    );
  }

  #waiting(group: 'prompt' | 'people'): number {
    return this.#durable.bytes - this.#folded[group].bytes;
  }

  /** Remembers the people of a batch. Must not throw, because the batch is on disk and can no longer be refused. */
  #rememberPeople(envelope: Envelope): void {
    try {
      this.#deps.people?.add(envelope);
    } catch (error) {
      this.#deps.failed(error);
    }
  }

  /** Folds at intervals until the store is complete. */
  #foldLater(): void {
    if (this.#isTimed || this.#isClosed) return;
    this.#isTimed = true;
    this.#deps.clock.after(foldEveryMs, () => {
      this.#isTimed = false;
      this.#deps.journal.expectFrame(); // Called before the check, to notice a frame that is appended after the check.
      if (this.#isClosed || this.unfolded.frames === 0) return;
      void this.fold(this.#areDue() ? 'now' : 'any').catch(() => {});
      this.#foldLater();
    });
  }

  #areDue(): boolean {
    return this.#waiting('people') >= foldPeopleBytes || this.#peopleAge >= foldPeopleEveryMs;
  }

  /** Time since the last fold of users and exposures began, ms. */
  get #peopleAge(): number {
    return this.#deps.clock.monotonic() - this.#peopleAt;
  }

  #requestFold(peopleToo: boolean): Promise<void> {
    this.#nextPeople ||= peopleToo;
    if (this.#next === undefined) {
      this.#next = this.#foldNext();
      this.#next.catch(() => {}); // The rejection may have no listener; that is expected.
    }
    return this.#next;
  }

  async #foldNext(): Promise<void> {
    await this.#current.catch(() => {});
    const wait = this.#beganAt + sharedMs - this.#deps.clock.monotonic();
    if (wait > 0) await new Promise<void>((resolve) => this.#deps.clock.after(wait, resolve));
    const people = this.#nextPeople || this.#areDue();
    this.#next = undefined;
    this.#nextPeople = false;
    this.#current = this.#foldNow(people);
    await this.#current;
  }

  async #foldNow(people: boolean): Promise<void> {
    const durable = this.#durable;
    const endFold = this.#deps.people?.beginFold();
    this.#beganAt = this.#deps.clock.monotonic();
    if (people) this.#peopleAt = this.#beganAt;
    try {
      await this.#ask('fold', { upTo: durable.sequence, people });
    } catch (error) {
      this.failedFolds++;
      this.#noFold = true;
      this.#deps.failed(error);
      throw error;
    }
    this.#noFold = false;
    this.foldTimes.observe((this.#deps.clock.monotonic() - this.#beganAt) / 1000);
    this.#folded.prompt = durable;
    if (people) {
      this.#folded.people = durable;
      this.#deps.journal.state.setFolded(durable.bytes);
    }
    endFold?.();
  }
}

/** A position in the journal: a frame, and the bytes that this process has appended up to the end of the frame. */
type Place = Pick<Tail, 'sequence' | 'bytes'>;
