/**
 * The queue closes when one measure reaches its high mark. It opens again when every measure is back at its low mark, or
 * when only batches that are being committed are left: the disk must not idle while packets are refused.
 */
export interface QueueMarks {
  readonly packets: Mark;
  /** Body bytes. */
  readonly bytes: Mark;
  /** Age of the oldest waiting batch, milliseconds. */
  readonly age: Mark;
}

export interface Mark {
  readonly high: number;
  readonly low: number;
}

/** Packets and bytes of one application. */
export interface Share {
  packets: number;
  bytes: number;
}

/** The packets that wait for one commit. */
export interface Waiting {
  readonly since: number;
  packets: number;
  bytes: number;
  /** The share of each application. */
  readonly shares: Map<number, Share>;
  /** Its commit has begun, so nothing joins it any more. */
  begun: boolean;
}

/** How long each application is held to its share of the queue after packets of two applications were mixed, ms. */
const mixedForMs = 10_000;

/**
 * Watches what waits for the disk and decides when to refuse more (backpressure), with hysteresis so that it does not
 * flap. Time is passed in (monotonic milliseconds).
 */
export class QueueMonitor {
  packets = 0;
  bytes = 0;
  /** Packets whose commit has not begun yet. */
  #next = 0;
  /** In order of arrival, so the first is the oldest. */
  readonly #groups = new Set<Waiting>();
  readonly #marks: QueueMarks;
  #closed = false;
  /** The share of each application with waiting packets. */
  readonly #shares = new Map<number, Share>();
  #lastApplication = -1;
  /** When the application of a packet last differed from that of the packet before it. */
  #mixedAt = Number.NEGATIVE_INFINITY;

  constructor(marks: QueueMarks) {
    this.#marks = marks;
  }

  /** Whether one more packet may be taken now. */
  admits(now: number): boolean {
    if (this.packets === 0) this.#closed = false;
    else if (this.#isOver('high', now)) this.#closed = true;
    else if (this.#closed) this.#closed = this.#next > 0 && this.#isOver('low', now);
    return !this.#closed;
  }

  /**
   * Whether one more packet of an application may be taken now. While several applications send, none may have more than
   * half of the queue, which leaves room for the others.
   */
  admitsOf(application: number, now: number): boolean {
    if (now - this.#mixedAt > mixedForMs) return true;
    const own = this.#shares.get(application);
    const { packets, bytes } = this.#marks;
    return own === undefined || (own.packets * 2 < packets.high && own.bytes * 2 < bytes.high);
  }

  /** Seconds after which a refused sender may try again: the age of the oldest batch, at least one. */
  retryAfter(now: number): number {
    return Math.min(60, Math.max(1, Math.ceil(this.oldest(now) / 1000)));
  }

  /** Starts a new group. */
  open(now: number): Waiting {
    const group = { since: now, packets: 0, bytes: 0, shares: new Map(), begun: false };
    this.#groups.add(group);
    return group;
  }

  /** Adds a packet of an application, with the memory that it takes, to a group at `now`. */
  join(group: Waiting, application: number, bytes: number, now: number): void {
    if (application !== this.#lastApplication) {
      if (this.#lastApplication !== -1) this.#mixedAt = now;
      this.#lastApplication = application;
    }
    addTo(group.shares, application, 1, bytes);
    addTo(this.#shares, application, 1, bytes);
    group.packets += 1;
    group.bytes += bytes;
    this.packets += 1;
    this.#next += 1;
    this.bytes += bytes;
  }

  /** The commit of a group begins. */
  begin(group: Waiting): void {
    group.begun = true;
    this.#next -= group.packets;
  }

  /** Removes a group that was committed or refused. */
  leave(group: Waiting): void {
    if (!this.#groups.delete(group)) return;
    if (!group.begun) this.begin(group);
    for (const [application, { packets, bytes }] of group.shares) {
      if (addTo(this.#shares, application, -packets, -bytes).packets === 0) this.#shares.delete(application);
    }
    this.packets -= group.packets;
    this.bytes -= group.bytes;
  }

  /** Whether a measure has reached its high mark, or is above its low mark. */
  #isOver(mark: keyof Mark, now: number): boolean {
    const { packets, bytes, age } = this.#marks;
    if (this.oldest(now) > age[mark]) return true;
    if (mark === 'high') return this.packets >= packets.high || this.bytes >= bytes.high;
    return this.packets > packets.low || this.bytes > bytes.low;
  }

  /** Age of the oldest waiting group, milliseconds; 0 when none waits. */
  oldest(now: number): number {
    for (const group of this.#groups) return now - group.since;
    return 0;
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
