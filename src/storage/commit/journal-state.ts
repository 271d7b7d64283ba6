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

/** Indexes of the words: how many tails were published, whether the next one wakes the watcher, and how many times one did. */
const words = { tails: 0, armed: 1, wakes: 2 } as const;
const tailNumbers = 4;
/** Indexes of the numbers: two tails in turns, of which the newest is stable, and the bytes that are folded. */
const numbers = { bytes: 1, folded: 2 * tailNumbers } as const;

/** Bytes of frames after which the watcher is woken: a part of each threshold that it checks. */
const wakeBytes = 256 * 1024;

/** The state of a journal in shared memory: its thread publishes the tail, the folding thread's owner what is folded, and any thread reads. */
export class JournalState {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #numbers: Float64Array;

  constructor(shared = new SharedArrayBuffer(16 + 8 * (numbers.folded + 1))) {
    this.shared = shared;
    this.#words = new Int32Array(shared, 0, 4);
    this.#numbers = new Float64Array(shared, 16);
  }

  get tail(): Tail {
    for (;;) {
      const tails = Atomics.load(this.#words, words.tails);
      const at = (tails & 1) * tailNumbers;
      const all = this.#numbers;
      const tail = { sequence: all[at]!, bytes: all[at + 1]!, segment: all[at + 2]!, used: all[at + 3]! };
      // An exchange, because an earlier read may not move behind it.
      if (Atomics.compareExchange(this.#words, words.tails, tails, tails) === tails) return tail;
    }
  }

  /** Publishes the tail. One thread at a time does so. */
  publish({ sequence, bytes, segment, used }: Tail): void {
    const tails = Atomics.load(this.#words, words.tails);
    const before = this.#bytesOf(tails);
    this.#numbers.set([sequence, bytes, segment, used], ((tails + 1) & 1) * tailNumbers);
    Atomics.store(this.#words, words.tails, tails + 1);
    const isStep = Math.floor(bytes / wakeBytes) !== Math.floor(before / wakeBytes);
    if (Atomics.exchange(this.#words, words.armed, 0) === 1 || isStep) this.wake();
  }

  /** Bytes that are not completely folded. Costs a few nanoseconds. */
  get unfoldedBytes(): number {
    return this.#bytesOf(Atomics.load(this.#words, words.tails)) - this.#numbers[numbers.folded]!;
  }

  setFolded(bytes: number): void {
    this.#numbers[numbers.folded] = bytes;
  }

  get wakes(): number {
    return Atomics.load(this.#words, words.wakes);
  }

  /** Resolves after the next wake; at once if there were more than a number seen before. */
  async woken(seen: number): Promise<void> {
    await Atomics.waitAsync(this.#words, words.wakes, seen).value;
  }

  /** Wakes the watcher at the next frame. Otherwise it is woken once for some bytes of frames. */
  arm(): void {
    Atomics.store(this.#words, words.armed, 1);
  }

  wake(): void {
    Atomics.add(this.#words, words.wakes, 1);
    Atomics.notify(this.#words, words.wakes);
  }

  #bytesOf(tails: number): number {
    return this.#numbers[(tails & 1) * tailNumbers + numbers.bytes]!;
  }
}
