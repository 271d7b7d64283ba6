import { closing } from '../../runtime/answer-calls.ts';
import type { TimerClock } from '../../runtime/clock.ts';
import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';
import type { WorkerThread } from '../../runtime/worker-thread.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import type { Committer, JournalFigures } from './committer.ts';
import type { Envelope } from './envelope.ts';
import type { FoldTask, Replayed } from './fold.ts';
import { type JournalThread, resultOf } from './journal-thread.ts';
import type { UnfoldedPeople } from './unfolded-people.ts';
import type { PeopleFreshness } from './usage-engine.ts';

export interface JournaledCommitterDeps {
  readonly journal: Pick<JournalThread, 'append' | 'begin' | 'close' | 'collect' | 'delays'>;
  /** Answers the calls of `foldActions`, `maintain` and `close`. */
  readonly folding: WorkerThread;
  readonly people?: UnfoldedPeople;
  readonly clock: Pick<TimerClock, 'after' | 'monotonic'>;
  readonly log: Pick<Log, 'info'>;
  /** Is told of a fold that failed. What was to be folded is durable; the next fold tries again. */
  failed(error: unknown): void;
}

/** Interval between a commit and the fold that takes it, unless one is requested earlier, ms. */
const foldEveryMs = 1000;
/** Bytes that are folded at once rather than with the next interval. */
const foldBytes = 4 * 1024 * 1024;
/** The same for people, of whom each may be on a page of their own. */
const foldPeopleEveryMs = 30_000;
const foldPeopleBytes = 24 * 1024 * 1024;
/** Bytes that cost next to nothing to fold at once. */
const fewBytes = 256 * 1024;
/** How much of a segment is used when the next one is prepared: a quiet installation never needs it. */
const prepareFrom = 1 / 4;
/** What few people would notice, ms: a page that shows users and is polled does not fold them each time. */
const recentMs = 5000;
/** Requests for a fold that come within this time share one, ms. */
const sharedMs = 50;

/** Appends batches to a journal, and has another thread fold them into the store. */
export class JournaledCommitter implements Committer, JournalFigures {
  readonly delays: Histogram;
  readonly foldDelays: Histogram;
  readonly foldTimes = new Histogram();
  failedFolds = 0;
  #noSegment = false;
  #noFold = false;
  replay = { frames: 0, seconds: 0 };
  /** People as the journal leaves them. */
  readonly people: UnfoldedPeople | undefined;
  readonly #deps: JournaledCommitterDeps;
  /** The last frame that is on disk, and the last ones that each group is in the store of. */
  #durable: Place = { sequence: 0, bytes: 0 };
  readonly #folded: { prompt: Place; people: Place } = { prompt: this.#durable, people: this.#durable };
  /** Deletions before which everything was folded. */
  readonly #foldedFor = new WeakSet<object>();
  /** The segment whose successor is ready, or is being prepared. */
  #preparedFor: number | undefined;
  #isTimed = false;
  #isClosed = false;
  /** The fold that is under way or was last, and when it began. */
  #current: Promise<void> = Promise.resolve();
  #beganAt = Number.NEGATIVE_INFINITY;
  /** A fold that was requested and has not begun, and whether it takes the people, too. */
  #next: Promise<void> | undefined;
  #nextPeople = false;
  /** When people were folded last. */
  #peopleAt = Number.NEGATIVE_INFINITY;

  constructor(deps: JournaledCommitterDeps) {
    this.#deps = deps;
    this.people = deps.people;
    this.delays = deps.journal.delays;
    this.foldDelays = deps.folding.delays;
  }

  get journal(): JournalFigures {
    return this;
  }

  get unfolded(): JournalFigures['unfolded'] {
    const { people } = this.#folded;
    return { frames: this.#durable.sequence - people.sequence, bytes: this.#durable.bytes - people.bytes };
  }

  /**
   * Folds what an earlier process has left, and begins the journal of this one. Nothing else may be called before.
   * @param known the last frame of the journal, if it is empty and the store has all: then there is nothing to wait for
   * @throws {CommitFailed}
   */
  async begin(known?: number): Promise<void> {
    const { folding, journal, failed, clock, log } = this.#deps;
    const began = clock.monotonic();
    const replaying = call(folding, 'open', known !== undefined) as Promise<Replayed>;
    if (known !== undefined) replaying.catch(failed);
    const last = known ?? (await replaying).last;
    if (known === undefined) {
      const { frames } = await replaying;
      const ms = clock.monotonic() - began;
      this.replay = { frames, seconds: ms / 1000 };
      if (frames > 0) log.info('the journal was replayed', { frames, ms: Math.round(ms) });
    }
    journal.begin(last);
    this.#durable = { sequence: last, bytes: 0 };
    this.#folded.prompt = this.#folded.people = this.#durable;
  }

  get trouble(): string | undefined {
    if (this.#noSegment) return 'no segment can be prepared for the journal; see the log';
    return this.#noFold ? 'the journal cannot be folded into the store; see the log' : undefined;
  }

  async commit(envelope: Envelope): Promise<void> {
    const { sequence, bytes, segment, used } = await this.#deps.journal.append(envelope);
    this.#durable = { sequence, bytes: this.#durable.bytes + bytes };
    this.#rememberPeople(envelope);
    if (used > prepareFrom && segment !== this.#preparedFor) this.#prepareFor(segment);
    if (this.#waiting('prompt') >= foldBytes) void this.#requestFold(false);
    else this.#foldLater();
  }

  /**
   * Resolves when the store has everything that is durable now.
   * @param people how much of the people it must have: see `UsageEngine.freshen`
   * @returns how long ago it had all of the people that are read, ms: 0 if it has them
   * @throws {CommitFailed}
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
    // What a packet brought before a deletion must not come back after it. Once is enough: no packet comes for it any more.
    if (step.task === 'deletion' && !this.#foldedFor.has(step.deletion)) {
      await this.fold();
      this.#foldedFor.add(step.deletion);
    }
    return (await call(this.#deps.folding, 'maintain', step)) as number;
  }

  /**
   * Has the folding thread do something once the store has everything that is durable now.
   * @throws {CommitFailed}
   */
  async askFolded(name: string, task: unknown): Promise<unknown> {
    await this.fold();
    return call(this.#deps.folding, name, task);
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
    const { ok } = await folding.call('finish');
    if (ok) this.#folded.prompt = this.#folded.people = this.#durable;
    await folding.call(closing);
    await folding.ended();
  }

  /** Prepares the segment after the one that is being written, so that no commit waits for it. */
  #prepareFor(segment: number): void {
    this.#preparedFor = segment;
    const settle = (failed: boolean) => {
      this.#noSegment = failed;
      if (failed) this.#preparedFor = undefined;
    };
    call(this.#deps.folding, 'prepare').then(
      () => settle(false),
      (error) => {
        settle(true);
        this.#deps.failed(error);
      },
    );
  }

  /** Bytes on disk of which a group is not in the store. */
  #waiting(group: 'prompt' | 'people'): number {
    return this.#durable.bytes - this.#folded[group].bytes;
  }

  /** The batch is on disk: whatever fails here must not refuse it. */
  #rememberPeople(envelope: Envelope): void {
    try {
      this.#deps.people?.add(envelope);
    } catch (error) {
      this.#deps.failed(error);
    }
  }

  /** Folds at the next interval, and at the ones after it until the store has everything. */
  #foldLater(): void {
    if (this.#isTimed || this.#isClosed) return;
    this.#isTimed = true;
    this.#deps.clock.after(foldEveryMs, () => {
      this.#isTimed = false;
      if (this.#isClosed || this.unfolded.frames === 0) return;
      void this.fold(this.#areDue() ? 'now' : 'any').catch(() => {});
      this.#foldLater();
    });
  }

  /** Whether the people are folded as well. */
  #areDue(): boolean {
    return this.#waiting('people') >= foldPeopleBytes || this.#peopleAge >= foldPeopleEveryMs;
  }

  /** How long ago the last fold of people began, ms. */
  get #peopleAge(): number {
    return this.#deps.clock.monotonic() - this.#peopleAt;
  }

  #requestFold(peopleToo: boolean): Promise<void> {
    this.#nextPeople ||= peopleToo;
    if (this.#next === undefined) {
      this.#next = this.#foldNext();
      this.#next.catch(() => {}); // Nobody may wait for it.
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
      await call(this.#deps.folding, 'fold', { upTo: durable.sequence, people } satisfies FoldTask);
    } catch (error) {
      this.failedFolds++;
      this.#noFold = true;
      this.#deps.failed(error);
      throw error;
    }
    this.#noFold = false;
    this.foldTimes.observe((this.#deps.clock.monotonic() - this.#beganAt) / 1000);
    this.#folded.prompt = durable;
    if (people) this.#folded.people = durable;
    endFold?.();
  }
}

/** A place in the journal: a frame, and the bytes that this process has written up to its end. */
interface Place {
  readonly sequence: number;
  readonly bytes: number;
}

async function call(thread: WorkerThread, name: string, task?: unknown): Promise<unknown> {
  return resultOf(await thread.call(name, task));
}
