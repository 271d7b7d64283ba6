import { threadTime } from '../../runtime/clock.ts';
import { FrameTooLarge } from '../journal/errors.ts';

/** The memory through which one thread commits to a journal. It can be passed to that thread. */
export interface ProducerMemory {
  readonly slot: SharedArrayBuffer;
  readonly state: SharedArrayBuffer;
  /** The word on which the journal's thread sleeps. */
  readonly bell: Int32Array;
  readonly bellAt: number;
}

/** Why a frame was refused. */
export interface SlotFailure {
  readonly message: string;
  readonly code?: unknown;
}

/** Indexes of the words: whether a frame waits, how many were answered, the answer, and whether the journal's thread has ended. */
const words = { rung: 0, answered: 1, answer: 2, ended: 3 } as const;
const answers = { none: 0, kept: 1, refused: 2 } as const;
/** Indexes of the numbers: the length of the frame or of the failure, and the time of the ring. */
const numbers = { length: 0, rungAt: 1 } as const;
const bytesAt = 32;

/**
 * Shared memory in which one thread passes frames to the journal's thread, one at a time, and receives the answers. Cloning frames
 * in messages would take more CPU than writing them.
 */
export class FrameSlot {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #numbers: Float64Array;
  readonly #bytes: Uint8Array;

  /** @param shared the memory of the other thread, or the maximum length of a frame. Memory is committed only as frames fill it */
  constructor(shared: SharedArrayBuffer | number) {
    this.shared = typeof shared === 'number' ? new SharedArrayBuffer(bytesAt + shared) : shared;
    this.#words = new Int32Array(this.shared, 0, 4);
    this.#numbers = new Float64Array(this.shared, 16, 2);
    this.#bytes = new Uint8Array(this.shared, bytesAt);
  }

  get answered(): number {
    return Atomics.load(this.#words, words.answered);
  }

  /**
   * Resolves after the next answer; at once if there are more answers than a number seen before. The notification of the previous
   * answer may wake this wait, because its count was read before the notification.
   */
  async next(seen: number): Promise<void> {
    while (this.answered === seen) await Atomics.waitAsync(this.#words, words.answered, seen).value;
  }

  /** @throws {FrameTooLarge} */
  put(parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length > this.#bytes.length) throw new FrameTooLarge(length, this.#bytes.length);
    let at = 0;
    for (const part of parts) {
      this.#bytes.set(part, at);
      at += part.length;
    }
    this.#numbers[numbers.length] = length;
  }

  /** Passes the frame to the journal's thread. @returns false if that thread has ended */
  ring(bell: Int32Array, at: number): boolean {
    this.#numbers[numbers.rungAt] = threadTime();
    this.#words[words.answer] = answers.none;
    Atomics.store(this.#words, words.rung, 1);
    Atomics.add(bell, at, 1);
    Atomics.notify(bell, at);
    return Atomics.load(this.#words, words.ended) === 0;
  }

  /** `undefined` if the last frame was kept. */
  get failure(): SlotFailure | undefined {
    const answer = this.#words[words.answer];
    if (answer === answers.kept) return undefined;
    if (answer === answers.none) return { message: 'the thread has ended' };
    return JSON.parse(Buffer.from(this.frame).toString());
  }

  /** @returns when the waiting frame was passed (`threadTime`); `undefined` if none waits */
  take(): number | undefined {
    return Atomics.exchange(this.#words, words.rung, 0) === 1 ? this.#numbers[numbers.rungAt] : undefined;
  }

  get frame(): Uint8Array {
    return this.#bytes.subarray(0, this.#numbers[numbers.length]);
  }

  /** Answers the frame that was taken. It is on disk unless there is a failure. */
  answer(failure?: SlotFailure): void {
    this.#words[words.answer] = failure === undefined ? answers.kept : answers.refused;
    if (failure !== undefined) this.put([Buffer.from(JSON.stringify(failure))]);
    this.#wake();
  }

  /** Refuses all frames without an answer, because the journal's thread has ended. */
  end(): void {
    Atomics.store(this.#words, words.ended, 1);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.#words, words.answered, 1);
    Atomics.notify(this.#words, words.answered);
  }
}
