import { renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { collectGarbage } from '../../runtime/garbage.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import { isJournalEmpty, prepareSpare, recycle } from '../journal/directory.ts';
import { JournalDamageError } from '../journal/errors.ts';
import { type JournalPlace, openJournal } from '../journal/place.ts';
import { JournalReader } from '../journal/reader.ts';
import { type Journal, segmentName } from '../journal/segment.ts';
import { putFolded, readFolded } from '../lmdb/layout.ts';
import { type LmdbEnvironment, transact } from '../lmdb/lmdb.ts';
import { decodeEnvelope, type Envelope } from './envelope.ts';
import type { Groups } from './sections.ts';

export interface FoldHandler {
  /** The groups of data that this handler adds. Each group is added separately. */
  readonly groups: readonly (keyof Groups<unknown>)[];
  /**
   * Adds the data of one group from sealed batches, in order, in one transaction. If the call throws, nothing was
   * stored.
   * @param finish called at the end of the transaction, for writes that belong to the transaction
   */
  fold(group: keyof Groups<unknown>, envelopes: Iterable<Envelope>, finish: () => void): void;
  forget(): void;
  /** Does one small step of upkeep. @returns the amount of work done, 0 if nothing is left */
  maintain?(step: Maintenance): number;
  /** Called once the data of earlier processes is folded. */
  replayed?(): void;
}

/**
 * Approximate maximum bytes of frames per transaction. The limit has room for all waiting users and exposures, so that
 * each page is written once.
 */
const foldBytes = 32 * 1024 * 1024;

/** Bytes of folded frames after which garbage is collected. Folding creates several times as much garbage. */
const collectBytes = 4 * 1024 * 1024;

/**
 * Adds the data of one group (see `Groups`) from frames to the store. Each frame is added exactly once, because the
 * same transaction records the position of the frame.
 */
class Follower {
  readonly #lmdb: LmdbEnvironment;
  readonly #journal: Journal;
  readonly #name: string;
  readonly #add: (envelopes: Iterable<Envelope>, finish: () => void) => void;
  #reader: JournalReader;
  /** The last frame whose data of this group is in the store. */
  #folded: number;

  /** @throws {JournalDamageError} */
  constructor(
    lmdb: LmdbEnvironment,
    journal: Journal,
    name: string,
    add: (envelopes: Iterable<Envelope>, finish: () => void) => void,
  ) {
    this.#lmdb = lmdb;
    this.#journal = journal;
    this.#name = name;
    this.#add = add;
    this.#folded = readFolded(lmdb, name);
    this.#reader = new JournalReader(journal, this.#folded);
  }

  get folded(): number {
    return this.#folded;
  }

  get incomplete(): string | undefined {
    return this.#reader.incomplete;
  }

  fold(upTo = Number.POSITIVE_INFINITY): void {
    try {
      while (this.#folded < upTo && this.#foldSome(upTo));
    } catch (error) {
      const explained = this.#explain(error);
      this.restart();
      throw explained;
    }
  }

  /**
   * Adds all frames while the journal has no writer.
   * @param last the last frame that is partly in the store. The journal can lack this frame: after a crash, a process
   * folded the frame from the page cache, and then a power loss removed the frame
   * @throws {JournalDamageError} if an earlier frame is missing
   */
  finish(last: number): void {
    this.fold(last - 1);
    this.fold();
    if (this.#folded >= last) return;
    transact(this.#lmdb, () => putFolded(this.#lmdb, this.#name, last));
    this.#folded = last;
  }

  /** Starts again from the first frame that the store lacks, because segments can have changed. */
  restart(): void {
    this.#reader.close();
    this.#reader = new JournalReader(this.#journal, this.#folded);
  }

  close(): void {
    this.#reader.close();
  }

  /** Runs one transaction. @returns true if more frames can be folded */
  #foldSome(upTo: number): boolean {
    const before = this.#folded;
    let last = before;
    let bytes = 0;
    let collected = 0;
    const envelopes = function* (this: Follower): Generator<Envelope> {
      for (const { sequence, body } of this.#reader.frames(upTo)) {
        yield decodeEnvelope(body);
        last = sequence;
        bytes += body.length;
        if (bytes >= foldBytes) return;
        if (bytes >= collected + collectBytes) {
          collectGarbage();
          collected = bytes;
        }
      }
    };
    this.#add(envelopes.call(this), () => {
      if (last > before) putFolded(this.#lmdb, this.#name, last);
    });
    this.#folded = last;
    if (bytes >= collectBytes) collectGarbage();
    return last > before;
  }

  #explain(error: unknown): unknown {
    const { position } = this.#reader;
    const { code, message } = error as Error & { code?: unknown };
    if (code !== undefined || error instanceof JournalDamageError || position === undefined) return error;
    const file = join(this.#journal.files.directory, segmentName(position.generation));
    const frame = `frame ${position.sequence}, which ends at offset ${position.offset} of ${file}`;
    return new Error(`Cannot fold ${frame}: ${message}`, { cause: error });
  }
}

export const getPeopleLane = (lane: string) => `${lane}/people`;

/** True if the store has no partly folded frame. */
export function isFoldedWhole(lmdb: LmdbEnvironment, lane: string): boolean {
  return readFolded(lmdb, getPeopleLane(lane)) === readFolded(lmdb, lane);
}

/** Adds the frames of a journal to a store, and recycles segments that are completely folded. */
export class Fold {
  readonly #journal: Journal;
  readonly #followers: Partial<Groups<Follower>>;
  /** See `JournalReader.incomplete`. Set by `finish`. */
  incomplete: string | undefined;

  /** @throws {JournalDamageError} */
  constructor(lmdb: LmdbEnvironment, place: JournalPlace, { groups, fold }: FoldHandler) {
    const lane = basename(place.directory);
    const journal = openJournal(place);
    this.#journal = journal;
    // An empty journal that is not completely folded was removed. Its remaining users and exposures are lost.
    if (groups.includes('people') && !isFoldedWhole(lmdb, lane) && isJournalEmpty(place.directory))
      transact(lmdb, () => putFolded(lmdb, getPeopleLane(lane), readFolded(lmdb, lane)));
    const follow = (group: keyof Groups<unknown>) =>
      new Follower(lmdb, journal, group === 'people' ? getPeopleLane(lane) : lane, (...batches) =>
        fold(group, ...batches),
      );
    this.#followers = Object.fromEntries(groups.map((group) => [group, follow(group)]));
  }

  /** The last frame that is completely in the store. */
  get folded(): number {
    return Math.min(...Object.values(this.#followers).map(({ folded }) => folded));
  }

  /**
   * Adds all frames while the journal has no writer, at startup or at the end of this process.
   * @returns the last frame of the journal
   * @throws {JournalDamageError}
   */
  finish(): number {
    const { prompt, people } = this.#followers;
    prompt?.fold();
    people?.finish(prompt?.folded ?? 0);
    this.incomplete = prompt?.incomplete;
    const { folded } = this;
    recycle(this.#journal, folded, folded);
    // The followers must open the files again, because the next segment can reuse the name of a removed segment.
    for (const follower of Object.values(this.#followers)) follower.restart();
    return folded;
  }

  /**
   * @throws {JournalDamageError} and LMDB's errors. After an error, the store has only complete groups, and a retry can
   * continue
   */
  fold({ upTo, people }: FoldTask): void {
    this.#followers.prompt?.fold(upTo);
    if (people) this.#followers.people?.fold(upTo);
    recycle(this.#journal, this.folded);
  }

  /** Keeps a spare segment ready. @throws {Error} of the file system */
  prepare(): void {
    for (const _ of prepareSpare(this.#journal));
  }

  /** Removes a folded journal without a writer. */
  remove(): void {
    this.close();
    const { directory } = this.#journal.files;
    const folded = `${directory}.folded`; // Renamed first: an interrupted removal would look like damage.
    rmSync(folded, { recursive: true, force: true });
    renameSync(directory, folded);
    rmSync(folded, { recursive: true, force: true });
  }

  close(): void {
    for (const follower of Object.values(this.#followers)) follower.close();
  }
}

interface FoldTask {
  readonly upTo: number;
  /** See `Groups`. */
  readonly people: boolean;
}

export interface Journals {
  readonly journal: JournalPlace;
  /** Journals of lanes that are not in use. This thread folds and removes these journals. */
  readonly others: readonly JournalPlace[];
}

export interface ReplayResult {
  /** The last frame of the thread's own journal. */
  readonly last: number;
  readonly frames: number;
  /** See `JournalReader.incomplete`. */
  readonly incomplete: readonly string[];
}

export function foldActions(lmdb: LmdbEnvironment, { journal, others }: Journals, aggregator: FoldHandler) {
  let own: Fold;
  return {
    /**
     * Opens the journal and folds its frames. Unless the journal is empty, call this before its writer opens.
     * @param isEmpty true if no journal has frames. The writer can then have started already
     * @returns the last frame of the journal and the number of folded frames, once all frames are folded
     */
    open(isEmpty: boolean): ReplayResult {
      let frames = 0;
      const incomplete: string[] = [];
      const finish = (fold: Fold) => {
        frames -= fold.folded;
        const last = fold.finish();
        frames += last;
        if (fold.incomplete !== undefined) incomplete.push(fold.incomplete);
        return last;
      };
      for (const place of others) {
        const other = new Fold(lmdb, place, aggregator);
        finish(other);
        other.remove();
      }
      own = new Fold(lmdb, journal, aggregator);
      const last = isEmpty ? own.folded : finish(own);
      aggregator.replayed?.();
      if (others.length > 0) aggregator.forget(); // Drops the applications of the other lanes from memory.
      lmdb.resetReadTxn(); // lmdb ends a read in a timer, but no timer fires in this thread.
      return { last, frames, incomplete };
    },
    fold: (task: FoldTask) => own.fold(task),
    finish: () => own.finish(),
    prepare: () => own.prepare(),
    maintain: (step: Maintenance) => aggregator.maintain?.(step) ?? 0,
    close: () => {},
  };
}

export type FoldActions = ReturnType<typeof foldActions>;
