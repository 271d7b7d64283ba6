import type { OtherQueues } from './queue-monitor.ts';

/** Indexes of the figures of a thread. Each thread has a line of the processor's cache. */
const figures = { packets: 0, bytes: 1, next: 2, since: 3, length: 8 } as const;

/** Interval between two readings of the other threads' figures, ms. Reading them for each packet would slow all threads down. */
const readEveryMs = 1;

export function queuesMemory(threads: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(8 * figures.length * threads);
  const cells = new Float64Array(memory);
  for (let at = 0; at < cells.length; at += figures.length)
    cells[at + figures.since] = Number.POSITIVE_INFINITY;
  return memory;
}

/**
 * Figures about the queues of all threads, in shared memory. Each thread writes its own and reads the others', at most once a
 * millisecond. So all queues together may exceed a limit by what the threads take in that time.
 */
export class SharedQueues implements OtherQueues {
  packets = 0;
  bytes = 0;
  next = 0;
  since = Number.POSITIVE_INFINITY;
  readonly parts: number;
  readonly #cells: Float64Array;
  readonly #own: number;
  readonly #origin: number;
  #readAt = Number.NEGATIVE_INFINITY;

  /**
   * @param thread number of this thread; 0 is the main thread, which takes the large messages
   * @param origin of this thread's monotonic clock, ms from an origin that all threads share
   */
  constructor(memory: SharedArrayBuffer, thread: number, origin: number) {
    this.#cells = new Float64Array(memory);
    this.parts = thread === 0 ? 1 : this.#cells.length / figures.length - 1;
    this.#own = thread * figures.length;
    this.#origin = origin;
  }

  read(now: number): void {
    if (now - this.#readAt < readEveryMs) return;
    this.#readAt = now;
    this.packets = 0;
    this.bytes = 0;
    this.next = 0;
    this.since = Number.POSITIVE_INFINITY;
    for (let at = 0; at < this.#cells.length; at += figures.length) {
      if (at === this.#own) continue;
      this.packets += this.#cells[at + figures.packets]!;
      this.bytes += this.#cells[at + figures.bytes]!;
      this.next += this.#cells[at + figures.next]!;
      this.since = Math.min(this.since, this.#cells[at + figures.since]! - this.#origin);
    }
  }

  write(packets: number, bytes: number, next: number, since: number): void {
    this.#cells[this.#own + figures.packets] = packets;
    this.#cells[this.#own + figures.bytes] = bytes;
    this.#cells[this.#own + figures.next] = next;
    this.#cells[this.#own + figures.since] = since + this.#origin;
  }
}
