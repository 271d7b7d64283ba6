import { expect } from 'vitest';
import { prepareSpare, recycle } from '../../../src/storage/journal/directory.ts';
import { JournalFull, JournalWriteError } from '../../../src/storage/journal/errors.ts';
import { JournalReader } from '../../../src/storage/journal/reader.ts';
import type { Journal } from '../../../src/storage/journal/segment.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import { shortageIn } from '../../../src/storage/lmdb/disk.ts';
import { seededRandom } from '../../support/random.ts';
import { type Fault, LossyDisk, type Operation } from './lossy-disk.ts';

/** A step of a random schedule. */
export interface Step {
  readonly action: 'append' | 'read' | 'fold' | 'forget' | 'prepare' | 'recycle' | 'restart' | 'stop';
  /** The size of a frame, or the number of frames to fold. */
  readonly amount: number;
  /** The faults of this step, followed by the faults of the startups after the step. */
  readonly troubles: readonly Trouble[];
}

/** A fault of some operations of the file system, one after another. */
export interface Trouble {
  readonly what: Fault | 'power loss';
  /** The kinds of operations that `at` and `times` count. */
  readonly kinds: readonly Operation['kind'][];
  /** The number of the first operation with the fault, from 1. `times` operations have the fault. */
  readonly at: number;
  readonly times: number;
}

const segmentSize = 12_288;

/**
 * A process that appends, folds and restarts on a disk that fails. Each acknowledged frame must be read once, in order,
 * and refused frames must never be read.
 */
export class Schedule {
  readonly #disk: LossyDisk;
  readonly #journal: Journal;
  readonly #random: () => number;
  /** The bodies that were read or acknowledged, in order. A replay must return all of these bodies. */
  #settled: string[] = [];
  /** The body of a frame that is possibly in the journal. */
  #unknown: string | undefined;
  /** The durable content of the store: the bodies of the frames from 1 to its position. */
  #stored: string[] = [];
  /** Frames that were read and are not in the store. */
  #unfolded: string[] = [];
  #reader: JournalReader | undefined;
  #writer: JournalWriter | undefined;
  #bodies = 0;
  readonly #actions: Readonly<Record<Step['action'], (amount: number) => void>> = {
    append: (size) => this.#append(size),
    read: () => this.#read(),
    fold: (count) => this.#fold(count),
    forget: () => this.#readAgain(),
    prepare: (steps) => this.#prepare(steps),
    recycle: () => recycle(this.#journal, this.#stored.length),
    restart: () => this.#start(),
    stop: () => {
      this.#read();
      this.#fold(Number.POSITIVE_INFINITY);
      recycle(this.#journal, this.#stored.length, this.#settled.length);
      this.#start();
    },
  };

  /** @param lies selects operations that do nothing. Schedules with such operations are a control and must fail */
  constructor(seed: number, lies: (operation: Operation) => boolean = () => false) {
    this.#random = seededRandom(seed);
    this.#disk = new LossyDisk(this.#random);
    this.#journal = { files: this.#disk, id: Buffer.alloc(16, 1), segmentSize };
    this.#disk.fault = (operation) => (lies(operation) ? 'lie' : undefined);
  }

  run(steps: readonly Step[]): void {
    this.#start();
    for (const step of steps) this.#step(step);
    this.#settle();
  }

  #step({ action, amount, troubles }: Step): void {
    let isDone = this.#attempt(() => this.#actions[action](amount), troubles[0]);
    for (let next = 1; !isDone; next++) isDone = this.#attempt(() => this.#start(), troubles[next]);
  }

  /** Runs an action with a fault. Returns false if the process ended. */
  #attempt(act: () => void, trouble: Trouble | undefined): boolean {
    const { fault } = this.#disk;
    let isTroubled = false;
    let count = 0;
    this.#disk.fault = (operation) => {
      if (trouble === undefined || !trouble.kinds.includes(operation.kind)) return fault(operation);
      const { what, at, times } = trouble;
      if (++count < at || count >= at + times) return fault(operation);
      isTroubled = true;
      return what === 'power loss' ? 'kill' : what;
    };
    try {
      act();
      return true;
    } catch (error) {
      if (!isTroubled || (error as Error).name === 'AssertionError') throw error;
      if (trouble?.what === 'power loss') this.#disk.losePower();
      else this.#disk.restart();
      return false;
    } finally {
      this.#disk.fault = fault;
    }
  }

  #append(size: number): void {
    const body = `${++this.#bodies}:${'x'.repeat(size)}`;
    // The body of a frame can contain bytes of this journal. They must not be read as a frame.
    const echo = size % 3 === 0 ? this.#echo(size) : '';
    try {
      this.#unknown = body + echo;
      const sequence = this.#writer!.append([Buffer.from(body), Buffer.from(echo, 'latin1')]);
      expect(sequence).toBe(this.#settled.length + 1);
      this.#settled.push(body + echo);
      this.#unknown = undefined;
    } catch (error) {
      const goesOn = error instanceof JournalFull || shortageIn(error) !== undefined;
      if (goesOn || (error instanceof JournalWriteError && error.frameState === 'refused')) this.#unknown = undefined;
      if (!goesOn) throw error;
    }
  }

  /** Returns the bytes of a segment from one possible start of a frame to another. */
  #echo(size: number): string {
    const name = this.#disk.list().find((each) => each.endsWith('.segment'))!;
    const from = 4096 + 8 * (size % 100);
    return Buffer.from(this.#disk.contents(name).subarray(from, from + 800)).toString('latin1');
  }

  #read(): void {
    for (const { body } of this.#reader!.frames(this.#settled.length))
      this.#unfolded.push(Buffer.from(body).toString('latin1'));
    expectSame(this.#stored.concat(this.#unfolded), this.#settled);
  }

  /** Runs one transaction of the store, which keeps the frames and the position of the last frame. */
  #fold(count: number): void {
    this.#stored = this.#stored.concat(this.#unfolded.splice(0, count));
  }

  /** Undoes a failed fold. Its frames are read again. */
  #readAgain(): void {
    this.#unfolded = [];
    this.#reader = new JournalReader(this.#journal, this.#stored.length);
    this.#read();
  }

  #prepare(steps: number): void {
    const preparing = prepareSpare(this.#journal);
    for (let step = 0; step <= steps % 3; step++) if (preparing.next().done) return;
    preparing.return();
  }

  /** Starts a process: folds the frames that the previous process has left, and begins a segment. */
  #start(): void {
    this.#unfolded = [];
    this.#reader = new JournalReader(this.#journal, this.#stored.length);
    for (const { sequence, body } of this.#reader.frames()) {
      if (sequence !== this.#stored.length + this.#unfolded.length + 1) expect.fail(`frame ${sequence}`);
      this.#unfolded.push(Buffer.from(body).toString('latin1'));
    }
    const found = this.#stored.concat(this.#unfolded);
    const isUnknownFound = this.#unknown !== undefined && found.length === this.#settled.length + 1;
    expectSame(found, isUnknownFound ? [...this.#settled, this.#unknown!] : this.#settled);
    // The store has all of these frames before the writer begins.
    this.#stored = [...found];
    this.#unfolded = [];
    recycle(this.#journal, found.length, found.length);
    this.#reader = new JournalReader(this.#journal, found.length);
    this.#writer = new JournalWriter(this.#journal, found.length, 8_192);
    this.#settled = found;
    this.#unknown = undefined;
  }

  /** Checks that all settled frames can still be read and folded after another power loss. */
  #settle(): void {
    this.#disk.losePower();
    this.#start();
    this.#read();
    this.#fold(Number.POSITIVE_INFINITY);
    expectSame(this.#stored, this.#settled);
  }
}

/** Compares as `toEqual` does, but faster: `toEqual` would take most of the time of a schedule. */
function expectSame(found: readonly string[], wanted: readonly string[]): void {
  const isSame = found.length === wanted.length && found.every((body, index) => body === wanted[index]);
  if (!isSame) expect(found).toEqual(wanted);
}
