import { renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { collectGarbage } from '../../runtime/garbage.ts';
import { JournalDamaged } from '../journal/errors.ts';
import { journalDirectory } from '../journal/files.ts';
import { isJournalEmpty } from '../journal/lanes.ts';
import { JournalReader } from '../journal/reader.ts';
import { type Journal, segmentName } from '../journal/segment.ts';
import { prepareSpare, recycle } from '../journal/spares.ts';
import { journalsOf, putFolded, readFolded } from '../lmdb/journal-mark.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import { transact } from '../lmdb/transact.ts';
import type { Envelope } from './envelope.ts';
import { decodeEnvelope } from './envelope-codec.ts';
import type { Groups } from './sections.ts';

/** Where a journal is, as the threads that write and read it are started with. */
export interface JournalPlace {
  /** Its name is the number of the lane. */
  readonly directory: string;
  /** See `Journal`. */
  readonly id: Uint8Array;
  readonly segmentSize: number;
}

/** Bytes of a segment of the journal: seconds of traffic at full speed. */
const segmentSize = 16 * 1024 * 1024;

/** Where the journal of a lane is in a data directory. */
export function journalPlace(data: string, lane: string, id: Uint8Array): JournalPlace {
  return { directory: join(journalsOf(data), lane), id, segmentSize };
}

/** The journal in a directory, which is made if it is missing. */
export function openJournal({ directory, id, segmentSize }: JournalPlace): Journal {
  return { files: journalDirectory(directory), id, segmentSize };
}

/** What a thread that folds is started with. */
export interface Journals {
  readonly journal: JournalPlace;
  /** Journals of lanes that are no more: this thread folds and removes them. */
  readonly others: readonly JournalPlace[];
}

/** What a start has folded. */
export interface Replayed {
  /** The last frame of the thread's own journal. */
  readonly last: number;
  /** Number of frames, in all journals that the thread has opened. */
  readonly frames: number;
}

/** What a thread that folds can be called to do. */
export function foldActions(lmdb: LmdbEnvironment, { journal, others }: Journals, aggregator: Folding) {
  let own: Fold;
  return {
    /**
     * Opens the journal, before the writer of this process does if it holds frames.
     * @param isEmpty whether no journal holds any: then the writer may have begun already
     * @returns the last frame of the journal, once all are folded, and how many were
     */
    open(isEmpty: boolean): Replayed {
      let frames = 0;
      for (const place of others) {
        const other = new Fold(lmdb, place, aggregator);
        frames -= other.folded;
        frames += other.finish();
        other.remove();
      }
      own = new Fold(lmdb, journal, aggregator);
      frames -= own.folded;
      const last = isEmpty ? own.folded : own.finish();
      aggregator.replayed?.();
      if (others.length > 0) aggregator.forget(); // What is in memory may belong to applications of other threads.
      return { last, frames: frames + last };
    },
    fold: (task: FoldTask) => own.fold(task),
    finish: () => own.finish(),
    prepare: () => own.prepare(),
  };
}

/** What adds frames to a store. */
export interface Folding {
  /** The parts of a batch that are added separately. */
  readonly groups: readonly (keyof Groups<unknown>)[];
  /**
   * Adds one group of what sealed batches hold, in their order, in one transaction. When it throws, nothing of it was kept.
   * @param finish called at the end of the transaction, to put what belongs to it
   */
  fold(group: keyof Groups<unknown>, envelopes: Iterable<Envelope>, finish: () => void): void;
  /** Drops what is in memory. */
  forget(): void;
  /** Is told that what earlier processes have left is added. */
  replayed?(): void;
}

/**
 * Bytes of frames that one transaction takes at most, about: it bounds the memory for what they change. People that wait are
 * one transaction, so that each page is written once.
 */
const foldBytes = 32 * 1024 * 1024;

/** Bytes of frames after which garbage is collected: adding them leaves several times as much. */
const collectBytes = 4 * 1024 * 1024;

/** Adds one group of what the frames hold to the store, each frame exactly once: the position is part of the transaction. */
class Follower {
  readonly #lmdb: LmdbEnvironment;
  readonly #journal: Journal;
  readonly #name: string;
  readonly #add: (envelopes: Iterable<Envelope>, finish: () => void) => void;
  #reader: JournalReader;
  /** The last frame of which the store holds the group. */
  #folded: number;

  /** @throws {JournalDamaged} */
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

  /** See `Fold.fold`. */
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
   * @param last the last frame that is in the store in part. It may be lost: if it was read after a crash, it was not on disk
   * @throws {JournalDamaged} if an earlier one is missing
   */
  finish(last: number): void {
    this.fold(last - 1);
    this.fold();
    if (this.#folded >= last) return;
    transact(this.#lmdb, () => putFolded(this.#lmdb, this.#name, last));
    this.#folded = last;
  }

  /** Reads from the first frame on that the store lacks, whatever the segments are now. */
  restart(): void {
    this.#reader.close();
    this.#reader = new JournalReader(this.#journal, this.#folded);
  }

  close(): void {
    this.#reader.close();
  }

  /** One transaction. @returns whether there may be more */
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

  /** Errors of the disk and of the journal say enough. For others, the frame that was read last is the one to look at. */
  #explain(error: unknown): unknown {
    const { position } = this.#reader;
    const { code, message } = error as Error & { code?: unknown };
    if (code !== undefined || error instanceof JournalDamaged || position === undefined) return error;
    const file = join(this.#journal.files.directory, segmentName(position.generation));
    const frame = `frame ${position.sequence}, which ends at offset ${position.offset} of ${file}`;
    return new Error(`Cannot fold ${frame}: ${message}`, { cause: error });
  }
}

/** What the position of the people of a lane is kept under. */
export const peopleOf = (lane: string) => `${lane}/people`;

/** Whether a store has everything of the frames of which it has anything. */
export function isFoldedWhole(lmdb: LmdbEnvironment, lane: string): boolean {
  return readFolded(lmdb, peopleOf(lane)) === readFolded(lmdb, lane);
}

/** Adds the frames of a journal to a store, and recycles the segments that the store has all of. */
export class Fold {
  readonly #journal: Journal;
  readonly #followers: Partial<Groups<Follower>>;

  /** @throws {JournalDamaged} */
  constructor(lmdb: LmdbEnvironment, place: JournalPlace, { groups, fold }: Folding) {
    const lane = basename(place.directory);
    const journal = openJournal(place);
    this.#journal = journal;
    // The journal was moved away: frames of which the store lacks the people are lost.
    if (groups.includes('people') && !isFoldedWhole(lmdb, lane) && isJournalEmpty(place.directory))
      transact(lmdb, () => putFolded(lmdb, peopleOf(lane), readFolded(lmdb, lane)));
    const follow = (group: keyof Groups<unknown>) =>
      new Follower(lmdb, journal, group === 'people' ? peopleOf(lane) : lane, (...batches) =>
        fold(group, ...batches),
      );
    this.#followers = Object.fromEntries(groups.map((group) => [group, follow(group)]));
  }

  /** The last frame of which the store has everything. */
  get folded(): number {
    return Math.min(...Object.values(this.#followers).map(({ folded }) => folded));
  }

  /**
   * Adds all frames while the journal has no writer: what an earlier process has left, or what this one leaves.
   * @returns the last frame of the journal
   * @throws {JournalDamaged}
   */
  finish(): number {
    const { prompt, people } = this.#followers;
    prompt?.fold();
    people?.finish(prompt?.folded ?? 0);
    const { folded } = this;
    recycle(this.#journal, folded, folded);
    // The next segment may have the name of one that is gone.
    for (const follower of Object.values(this.#followers)) follower.restart();
    return folded;
  }

  /**
   * Adds the frames up to one that is on disk.
   * @throws {JournalDamaged} and what LMDB throws; the store holds whole groups of frames then, and the next call goes on
   */
  fold({ upTo, people }: FoldTask): void {
    this.#followers.prompt?.fold(upTo);
    if (people) this.#followers.people?.fold(upTo);
    recycle(this.#journal, this.folded);
  }

  /**
   * Keeps a spare segment ready.
   * @throws {Error} of the file system
   */
  prepare(): void {
    for (const _ of prepareSpare(this.#journal));
  }

  /** Removes a journal that is folded and has no writer. */
  remove(): void {
    this.close();
    const { directory } = this.#journal.files;
    const folded = `${directory}.folded`; // A journal without some of its files would be taken for a damaged one.
    rmSync(folded, { recursive: true, force: true });
    renameSync(directory, folded);
    rmSync(folded, { recursive: true, force: true });
  }

  close(): void {
    for (const follower of Object.values(this.#followers)) follower.close();
  }
}

/** What a fold is to add. */
export interface FoldTask {
  /** The last frame. */
  readonly upTo: number;
  /** Whether the people are added, too: see `Groups`. */
  readonly people: boolean;
}
