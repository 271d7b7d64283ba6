import type { Clock } from '../../runtime/clock.ts';

/**
 * The queue closes (refuses packets) when one measure reaches its high watermark. It reopens when every measure is at
 * its low watermark, or when the commits of all waiting batches have started. Otherwise the disk would be idle while
 * packets are refused.
 */
interface QueueWatermarks {
  readonly packets: Watermark;
  /** Body bytes. */
  readonly bytes: Watermark;
  /** Age of the oldest waiting batch, milliseconds. */
  readonly age: Watermark;
}

interface Watermark {
  readonly high: number;
  readonly low: number;
}

interface Share {
  packets: number;
  bytes: number;
}

export interface WaitingBatch {
  readonly since: number;
  packets: number;
  bytes: number;
  readonly shares: Map<number, Share>;
  /** True once the commit has started; no packet can join after that. */
  begun: boolean;
}

/** Time for which each application is limited to its share after packets of two applications have arrived, ms. */
const mixedForMs = 10_000;

export interface OtherQueues {
  /** Number of threads among which an application's half of the queue is divided equally. */
  readonly threads: number;
  readonly packets: number;
  readonly bytes: number;
  /** Packets whose commit has not started yet. */
  readonly next: number;
  /** Time when the oldest waiting batch was opened, by the clock of this thread. */
  readonly since: number;
  /** Reads these numbers again if they are older than a millisecond. */
  read(now: number): void;
  /** Publishes the numbers of this thread for the other threads. */
  write(packets: number, bytes: number, next: number, since: number): void;
}

/**
 * Watches the packets that wait for the disk and decides when to refuse further packets (backpressure), with hysteresis
 * to prevent flapping. Times are parameters (monotonic milliseconds).
 */
export class QueueMonitor {
  #packets = 0;
  #bytes = 0;
  #next = 0;
  /** The waiting batches in order of arrival, the oldest first. */
  readonly #groups = new Set<WaitingBatch>();
  /** Time when the oldest waiting batch was opened; infinite if no batch waits. */
  #since = Number.POSITIVE_INFINITY;
  readonly #watermarks: QueueWatermarks;
  #closed = false;
  readonly #shares = new Map<number, Share>();
  #lastApplication = -1;
  /** Time of the last packet from a different application than the previous packet. */
  #mixedAt = Number.NEGATIVE_INFINITY;

  readonly #others: OtherQueues | undefined;

  /** @param others the queues of other threads, which count towards the limits */
  constructor(watermarks: QueueWatermarks, others?: OtherQueues) {
    this.#watermarks = watermarks;
    this.#others = others;
  }

  get packets(): number {
    return this.#packets + (this.#others?.packets ?? 0);
  }

  get bytes(): number {
    return this.#bytes + (this.#others?.bytes ?? 0);
  }

  admits(now: number): boolean {
    this.#others?.read(now);
    if (this.packets === 0) this.#closed = false;
    else if (this.#isOver('high', now)) this.#closed = true;
    else if (this.#closed) this.#closed = this.#next + (this.#others?.next ?? 0) > 0 && this.#isOver('low', now);
    return !this.#closed;
  }

  /**
   * True if an application can add a packet. While several applications send, each application gets at most half of the
   * queue.
   */
  admitsApplication(application: number, now: number): boolean {
    if (now - this.#mixedAt > mixedForMs) return true;
    const own = this.#shares.get(application);
    const { packets, bytes } = this.#watermarks;
    const divisor = 2 * (this.#others?.threads ?? 1);
    return own === undefined || (own.packets * divisor < packets.high && own.bytes * divisor < bytes.high);
  }

  /** Number of seconds after which a refused sender can retry: the age of the oldest batch, at least one. */
  retryAfter(now: number): number {
    return Math.min(60, Math.max(1, Math.ceil(this.oldest(now) / 1000)));
  }

  open(now: number): WaitingBatch {
    const group = { since: now, packets: 0, bytes: 0, shares: new Map(), begun: false };
    this.#groups.add(group);
    if (this.#groups.size === 1) this.#since = now;
    this.#write();
    return group;
  }

  /** @param clock read only if the previous packet belongs to another application */
  join(group: WaitingBatch, application: number, bytes: number, clock: Pick<Clock, 'monotonic'>): void {
    if (application !== this.#lastApplication) {
      if (this.#lastApplication !== -1) this.#mixedAt = clock.monotonic();
      this.#lastApplication = application;
    }
    addTo(group.shares, application, 1, bytes);
    addTo(this.#shares, application, 1, bytes);
    group.packets += 1;
    group.bytes += bytes;
    this.#packets += 1;
    this.#next += 1;
    this.#bytes += bytes;
    this.#write();
  }

  begin(group: WaitingBatch): void {
    group.begun = true;
    this.#next -= group.packets;
    this.#write();
  }

  leave(group: WaitingBatch): void {
    if (!this.#groups.delete(group)) return;
    if (!group.begun) this.begin(group);
    this.#since = this.#groups.values().next().value?.since ?? Number.POSITIVE_INFINITY;
    for (const [application, { packets, bytes }] of group.shares) {
      if (addTo(this.#shares, application, -packets, -bytes).packets === 0) this.#shares.delete(application);
    }
    this.#packets -= group.packets;
    this.#bytes -= group.bytes;
    this.#write();
  }

  #isOver(level: keyof Watermark, now: number): boolean {
    const { packets, bytes, age } = this.#watermarks;
    if (this.oldest(now) > age[level]) return true;
    if (level === 'high') return this.packets >= packets.high || this.bytes >= bytes.high;
    return this.packets > packets.low || this.bytes > bytes.low;
  }

  /** Age of the oldest waiting batch, milliseconds; 0 if no batch waits. */
  oldest(now: number): number {
    this.#others?.read(now);
    const since = Math.min(this.#since, this.#others?.since ?? Number.POSITIVE_INFINITY);
    return since === Number.POSITIVE_INFINITY ? 0 : Math.max(0, now - since);
  }

  #write(): void {
    this.#others?.write(this.#packets, this.#bytes, this.#next, this.#since);
  }
}

function addTo(shares: Map<number, Share>, application: number, packets: number, bytes: number): Share {
  const share = shares.get(application);
  if (share === undefined) {
    const first = { packets, bytes };
    shares.set(application, first);
    return first;
  }
  share.packets += packets;
  share.bytes += bytes;
  return share;
}

/** Indexes of the numbers of a thread. The numbers of each thread have a separate cache line of the processor. */
const figures = { packets: 0, bytes: 1, next: 2, since: 3, length: 8 } as const;

/**
 * Minimum interval between two reads of the other threads' numbers, ms. Reading the numbers for each packet would slow
 * down all threads.
 */
const readEveryMs = 1;

export function queuesMemory(threads: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(8 * figures.length * threads);
  const cells = new Float64Array(memory);
  for (let at = 0; at < cells.length; at += figures.length) cells[at + figures.since] = Number.POSITIVE_INFINITY;
  return memory;
}

/**
 * Numbers about the queues of all threads, in shared memory. Each thread writes its own numbers, and reads the numbers
 * of the other threads at most once a millisecond. The sum of all queues can thus exceed a limit by the packets of one
 * millisecond.
 */
export class SharedQueues implements OtherQueues {
  packets = 0;
  bytes = 0;
  next = 0;
  since = Number.POSITIVE_INFINITY;
  readonly threads: number;
  readonly #cells: Float64Array;
  readonly #own: number;
  readonly #origin: number;
  #readAt = Number.NEGATIVE_INFINITY;

  /**
   * @param thread number of this thread; 0 is the main thread, which alone handles large messages
   * @param origin the origin of this thread's monotonic clock, ms from an origin that all threads share
   */
  constructor(memory: SharedArrayBuffer, thread: number, origin: number) {
    this.#cells = new Float64Array(memory);
    this.threads = thread === 0 ? 1 : this.#cells.length / figures.length - 1;
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
