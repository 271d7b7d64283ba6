import { threadTime } from '../../runtime/clock.ts';
import { FrameTooLarge } from '../journal/errors.ts';

/** The memory through which one thread commits to a journal. The memory can be passed to that thread. */
export interface ProducerMemory {
  readonly slot: SharedArrayBuffer;
  readonly state: SharedArrayBuffer;
  /** The word on which the journal's thread sleeps. */
  readonly bell: Int32Array;
  readonly bellAt: number;
}

/** Reason why the journal's thread refused a frame. */
export interface SlotFailure {
  readonly message: string;
  readonly code?: unknown;
}

/**
 * Indexes of the words. `rung`: 1 if a frame waits. `settled`: number of settled frames. `result`: the last result.
 * `ended`: 1 if the journal's thread has ended.
 */
const words = { rung: 0, settled: 1, result: 2, ended: 3 } as const;
const results = { none: 0, kept: 1, refused: 2 } as const;
/** Indexes of the numbers: the length of the frame or of the failure, and the time at which the frame was passed. */
const numbers = { length: 0, rungAt: 1 } as const;
const bytesAt = 32;

/**
 * Shared memory in which one thread passes frames to the journal's thread, one at a time, and receives the results.
 * Cloning frames in messages would take more CPU time than writing the frames.
 */
export class FrameSlot {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #numbers: Float64Array;
  readonly #bytes: Uint8Array;

  /**
   * @param shared the memory of the other thread; or, for new memory, the maximum length of a frame. The system
   * allocates only the part that frames use
   */
  constructor(shared: SharedArrayBuffer | number) {
    this.shared = typeof shared === 'number' ? new SharedArrayBuffer(bytesAt + shared) : shared;
    this.#words = new Int32Array(this.shared, 0, 4);
    this.#numbers = new Float64Array(this.shared, 16, 2);
    this.#bytes = new Uint8Array(this.shared, bytesAt);
  }

  get settled(): number {
    return Atomics.load(this.#words, words.settled);
  }

  /**
   * Resolves after the next result, or immediately if the number of results already differs from `seen`. A late
   * notification of an earlier result is thus ignored.
   */
  async next(seen: number): Promise<void> {
    while (this.settled === seen) await Atomics.waitAsync(this.#words, words.settled, seen).value;
  }

  /** @throws {FrameTooLarge} */
  put(chunks: readonly Uint8Array[]): void {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (length > this.#bytes.length) throw new FrameTooLarge(length, this.#bytes.length);
    let at = 0;
    for (const chunk of chunks) {
      this.#bytes.set(chunk, at);
      at += chunk.length;
    }
    this.#numbers[numbers.length] = length;
  }

  /** Passes the frame to the journal's thread. @returns false if the journal's thread has ended */
  ring(bell: Int32Array, at: number): boolean {
    this.#numbers[numbers.rungAt] = threadTime();
    this.#words[words.result] = results.none;
    Atomics.store(this.#words, words.rung, 1);
    Atomics.add(bell, at, 1);
    Atomics.notify(bell, at);
    return Atomics.load(this.#words, words.ended) === 0;
  }

  /** The failure of the last frame; `undefined` if the frame is on disk. */
  get failure(): SlotFailure | undefined {
    const result = this.#words[words.result];
    if (result === results.kept) return undefined;
    if (result === results.none) return { message: 'the thread has ended' };
    return JSON.parse(Buffer.from(this.frame).toString());
  }

  /**
   * Takes the waiting frame. @returns the time at which the frame was passed (`threadTime`); `undefined` if no frame
   * waits
   */
  take(): number | undefined {
    return Atomics.exchange(this.#words, words.rung, 0) === 1 ? this.#numbers[numbers.rungAt] : undefined;
  }

  get frame(): Uint8Array {
    return this.#bytes.subarray(0, this.#numbers[numbers.length]);
  }

  /** Settles the frame that was taken. The frame is on disk unless there is a failure. */
  settle(failure?: SlotFailure): void {
    this.#words[words.result] = failure === undefined ? results.kept : results.refused;
    if (failure !== undefined) this.put([Buffer.from(JSON.stringify(failure))]);
    this.#wake();
  }

  /** Refuses all frames that are not settled, because the journal's thread has ended. */
  end(): void {
    Atomics.store(this.#words, words.ended, 1);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.#words, words.settled, 1);
    Atomics.notify(this.#words, words.settled);
  }
}

/** The end of a journal. */
export interface Tail {
  /** The last frame on disk. */
  readonly sequence: number;
  /** Bytes of the frames that this process has appended. */
  readonly bytes: number;
  /** The generation of the segment, and the used fraction of it, from 0 to 1. */
  readonly segment: number;
  readonly used: number;
}

/**
 * Indexes of the words. `tails`: number of published tails. `armed`: 1 if the next tail must wake the watcher. `wakes`:
 * number of wake-ups.
 */
const stateWords = { tails: 0, armed: 1, wakes: 2 } as const;
const tailNumbers = 4;
/** Indexes of the numbers: two tails, written alternately so that the newest tail is stable, and the folded bytes. */
const stateNumbers = { bytes: 1, folded: 2 * tailNumbers } as const;

/** Bytes of frames after which the watcher is woken: a fraction of each threshold that the watcher checks. */
const wakeBytes = 256 * 1024;

/**
 * The state of a journal in shared memory. The journal's thread publishes the tail, and the owner of the folding thread
 * publishes the folded position. Any thread can read the tail and the position.
 */
export class JournalState {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #numbers: Float64Array;

  constructor(shared = new SharedArrayBuffer(16 + 8 * (stateNumbers.folded + 1))) {
    this.shared = shared;
    this.#words = new Int32Array(shared, 0, 4);
    this.#numbers = new Float64Array(shared, 16);
  }

  get tail(): Tail {
    for (;;) {
      const tails = Atomics.load(this.#words, stateWords.tails);
      const at = (tails & 1) * tailNumbers;
      const all = this.#numbers;
      const tail = { sequence: all[at]!, bytes: all[at + 1]!, segment: all[at + 2]!, used: all[at + 3]! };
      // `compareExchange` instead of `load`: the processor must not move the earlier reads behind this check.
      if (Atomics.compareExchange(this.#words, stateWords.tails, tails, tails) === tails) return tail;
    }
  }

  /** Publishes the tail. Only one thread at a time calls this. */
  publish({ sequence, bytes, segment, used }: Tail): void {
    const tails = Atomics.load(this.#words, stateWords.tails);
    const before = this.#readBytes(tails);
    this.#numbers.set([sequence, bytes, segment, used], ((tails + 1) & 1) * tailNumbers);
    Atomics.store(this.#words, stateWords.tails, tails + 1);
    const isStep = Math.floor(bytes / wakeBytes) !== Math.floor(before / wakeBytes);
    if (Atomics.exchange(this.#words, stateWords.armed, 0) === 1 || isStep) this.wake();
  }

  /** Number of bytes that are not completely folded. Reading the number takes a few nanoseconds. */
  get unfoldedBytes(): number {
    return this.#readBytes(Atomics.load(this.#words, stateWords.tails)) - this.#numbers[stateNumbers.folded]!;
  }

  setFolded(bytes: number): void {
    this.#numbers[stateNumbers.folded] = bytes;
  }

  get wakes(): number {
    return Atomics.load(this.#words, stateWords.wakes);
  }

  /** Resolves when the watcher is woken, or immediately if it was already woken more than `seen` times. */
  async woken(seen: number): Promise<void> {
    await Atomics.waitAsync(this.#words, stateWords.wakes, seen).value;
  }

  /** Wakes the watcher at the next frame, instead of after the next `wakeBytes` of frames. */
  arm(): void {
    Atomics.store(this.#words, stateWords.armed, 1);
  }

  wake(): void {
    Atomics.add(this.#words, stateWords.wakes, 1);
    Atomics.notify(this.#words, stateWords.wakes);
  }

  #readBytes(tails: number): number {
    return this.#numbers[(tails & 1) * tailNumbers + stateNumbers.bytes]!;
  }
}
