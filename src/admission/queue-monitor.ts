/**
 * From a high mark on nothing more is let in, until every figure is back at its low mark, or until nothing is left to do
 * for the disk but the commits under way: it must not rest while packets are refused.
 */
export interface QueueMarks {
  readonly packets: Mark;
  /** Body bytes. */
  readonly bytes: Mark;
  /** Age of the oldest batch that waits, milliseconds. */
  readonly age: Mark;
}

export interface Mark {
  readonly high: number;
  readonly low: number;
}

/** A group of packets that waits for one commit; the monitor sums them up. */
export interface Waiting {
  readonly since: number;
  packets: number;
  bytes: number;
  /** Its commit is under way: nothing joins it any more. */
  begun: boolean;
}

/**
 * Watches what waits for the disk and says when to stop taking more in (backpressure), with hysteresis so that it
 * does not flap. Time is passed in (monotonic milliseconds).
 */
export class QueueMonitor {
  packets = 0;
  bytes = 0;
  /** Packets whose commit has not begun. */
  private next = 0;
  /** In order of arrival, so the first is the oldest. */
  private readonly groups = new Set<Waiting>();
  private readonly marks: QueueMarks;
  private closed = false;

  constructor(marks: QueueMarks) {
    this.marks = marks;
  }

  /** Whether one more packet may come in now. */
  admits(now: number): boolean {
    if (this.packets === 0) this.closed = false;
    else if (this.isOver('high', now)) this.closed = true;
    else if (this.closed) this.closed = this.next > 0 && this.isOver('low', now);
    return !this.closed;
  }

  /** Seconds after which a refused sender may try again: the time the oldest has been waiting, at least one. */
  retryAfter(now: number): number {
    return Math.min(60, Math.max(1, Math.ceil(this.oldest(now) / 1000)));
  }

  /** A new group begins to wait. */
  open(now: number): Waiting {
    const group = { since: now, packets: 0, bytes: 0, begun: false };
    this.groups.add(group);
    return group;
  }

  /** One packet of `bytes` joins a group. */
  join(group: Waiting, bytes: number): void {
    group.packets += 1;
    group.bytes += bytes;
    this.packets += 1;
    this.next += 1;
    this.bytes += bytes;
  }

  /** The commit of a group begins. */
  begin(group: Waiting): void {
    group.begun = true;
    this.next -= group.packets;
  }

  /** The group was committed, or refused: it waits no longer. */
  leave(group: Waiting): void {
    if (!this.groups.delete(group)) return;
    if (!group.begun) this.begin(group);
    this.packets -= group.packets;
    this.bytes -= group.bytes;
  }

  /** Whether a figure has come to its high mark, or is above its low one. */
  private isOver(mark: keyof Mark, now: number): boolean {
    const { packets, bytes, age } = this.marks;
    if (this.oldest(now) > age[mark]) return true;
    if (mark === 'high') return this.packets >= packets.high || this.bytes >= bytes.high;
    return this.packets > packets.low || this.bytes > bytes.low;
  }

  /** Age of the oldest waiting group, milliseconds; 0 when none waits. */
  oldest(now: number): number {
    for (const group of this.groups) return now - group.since;
    return 0;
  }
}
