import type { TimerClock } from '../../runtime/clock.ts';
import { Histogram } from './histogram.ts';
import type { Timing } from './plan.ts';

/** Maximum time to wait for responses after the last request was due. */
const drainMs = 10_000;
/** Polling interval of an open loop. It is short compared with the measured latencies. */
const openLoopPauseMs = 0.02;
const never = new Int32Array(new SharedArrayBuffer(4));

/** The measurements of one thread: see `LoadReport`. */
interface LoadMeasurements {
  readonly seconds: number;
  readonly rps: number;
  readonly sent: number;
  /** Number of latencies in each slot of a histogram. */
  readonly latencies: Uint32Array;
  readonly lateness: Uint32Array;
  readonly own: Uint32Array;
  readonly others: Uint32Array;
  /** Number of missing responses. */
  readonly unanswered: number;
}

/** The requests and responses of one thread. */
export interface LoadResult extends LoadMeasurements {
  /** Number of successful requests, by index in the requests of the plan. */
  readonly accepted: readonly number[];
  readonly errors: Readonly<Record<string, number>>;
}

/** The result of a thread, and its CPU time in seconds. */
export interface ThreadResult extends LoadResult {
  readonly cpuSeconds: number;
  /** Time from the first request to the last response, seconds. */
  readonly elapsed: number;
}

/** A connection, or a stream of a connection, with at most one request in progress. `LoadRun` sets its times. */
export interface Slot {
  /** Time from which the latency of the request in progress is measured. */
  dueAt: number;
  /** Delay of the generator before it sent the request, ms. */
  late: number;
  idleSince: number;
}

/** The times of a slot before its first request. */
export const newSlot: Slot = { dueAt: 0, late: 0, idleSince: 0 };

/** Sends requests on a schedule, for any protocol. */
export class LoadRun<Each extends Slot> {
  readonly #timing: Timing;
  readonly #share: Share;
  readonly #clock: TimerClock;
  readonly #send: (slot: Each) => void;
  readonly #latencies = new Histogram();
  readonly #lateness = new Histogram();
  readonly #own = new Histogram();
  readonly #others = new Histogram();
  readonly #idle: Each[] = [];
  #schedule: Schedule = { next: () => undefined, over: () => true };
  #measureFrom = 0;
  #measureTo = 0;
  #slots = 0;
  #sent = 0;
  #underWay = 0;
  /** Successful requests within the measured period. */
  #measured = 0;
  #measuredAt = 0;
  #lastResponseAt = 0;
  /** Start times of the last poll of an open loop's sockets, and of the poll before it. */
  #polledAt = Number.POSITIVE_INFINITY;
  #polledBefore = Number.POSITIVE_INFINITY;

  /** @param send starts the request of a slot */
  constructor(timing: Timing, share: Share, clock: TimerClock, send: (slot: Each) => void) {
    this.#timing = timing;
    this.#share = share;
    this.#clock = clock;
    this.#send = send;
  }

  add(slot: Each): void {
    this.#slots++;
    this.#rest(slot, this.#clock.monotonic());
    this.#pump();
  }

  /** Removes a slot. @param busy true if the slot has a request in progress */
  remove(slot: Each, busy: boolean): void {
    this.#slots--;
    if (busy) this.#underWay--;
    else this.#idle.splice(this.#idle.indexOf(slot), 1);
  }

  /**
   * Keeps the run going while its last connections are reopened. @param opened settles after the call of `add`, or if
   * reopening fails
   */
  async expect(opened: Promise<void>): Promise<void> {
    this.#slots++;
    try {
      await opened;
    } finally {
      this.#slots--;
    }
  }

  /** True if the schedule has no more requests. */
  get isOver(): boolean {
    return this.#schedule.over(this.#clock.monotonic());
  }

  /** Counts a response, and sends the slot's next request. @param well true if the response is as expected */
  countResponse(slot: Each, well: boolean): void {
    const now = this.#clock.monotonic();
    this.#underWay--;
    this.#lastResponseAt = now;
    const isLate = this.#isFirstAfterPeriod(now);
    if (well && (slot.dueAt >= this.#measureFrom || isLate)) this.#record(slot, now);
    const isMeasured = now >= this.#measureFrom && (now <= this.#measureTo || this.#timing.rate !== undefined);
    if (well && (isMeasured || isLate)) {
      this.#measured++;
      this.#measuredAt = now;
    }
    const due = this.#schedule.next(now);
    if (due === undefined) this.#rest(slot, now);
    else {
      slot.idleSince = now;
      this.#begin(slot, due, now);
    }
  }

  /** True for the first response after the measured period, if the period had no response, as on a busy machine. */
  #isFirstAfterPeriod(now: number): boolean {
    return this.#timing.rate === undefined && now > this.#measureTo && this.#measured === 0;
  }

  /**
   * Records a latency, and the part that the generator can have caused. The response arrived after the second-last poll
   * of the sockets, so the generator has delayed it by at most the time since then.
   */
  #record({ dueAt, late }: Each, now: number): void {
    const latency = now - dueAt;
    const own = Math.min(latency, late + Math.max(0, now - this.#polledBefore));
    this.#latencies.record(latency);
    this.#own.record(own);
    this.#others.record(latency - own);
  }

  /** Sends all requests and waits for the responses. */
  async run(): Promise<LoadMeasurements> {
    const start = this.#clock.monotonic();
    this.#schedule = this.#scheduleFrom(start);
    if (this.#timing.rate !== undefined) this.#polledAt = start;
    this.#pump();
    await (this.#timing.rate === undefined ? this.#wait() : this.#pace());
    await this.#drain();
    return this.#result();
  }

  #scheduleFrom(start: number): Schedule {
    const { warmupSeconds, seconds, rate, limit, overload } = this.#timing;
    this.#measureFrom = start + warmupSeconds * 1000;
    this.#measureTo = this.#measureFrom + seconds * 1000;
    if (rate === undefined) return closedLoop(this.#measureTo, limit ?? Number.POSITIVE_INFINITY, this.#share);
    const open = openLoop(start, rate, warmupSeconds + seconds, this.#share);
    return overload ? until(this.#measureTo, open) : open;
  }

  #rest(slot: Each, since: number): void {
    slot.idleSince = since;
    this.#idle.push(slot);
  }

  /** Assigns due requests to idle slots. */
  #pump(): void {
    while (this.#idle.length > 0) {
      const now = this.#clock.monotonic();
      const due = this.#schedule.next(now);
      if (due === undefined) return;
      this.#begin(this.#idle.shift()!, due, now);
    }
  }

  #begin(slot: Each, due: number, now: number): void {
    const { overload } = this.#timing;
    const late = now - Math.max(due, slot.idleSince);
    this.#underWay++;
    this.#sent++;
    if (due >= this.#measureFrom) this.#lateness.record(late);
    slot.dueAt = overload ? now : due;
    slot.late = overload ? 0 : late;
    this.#send(slot);
  }

  async #wait(): Promise<void> {
    while (!this.isOver && this.#slots > 0) await this.#pause(5);
  }

  /** Sends requests at a fixed rate by polling. Timers are too coarse (1 ms), and a busy loop would use a core. */
  async #pace(): Promise<void> {
    while (!this.isOver && this.#slots > 0) {
      this.#pump();
      await this.#poll();
    }
  }

  /** Waits briefly, and then lets the event loop read the sockets. */
  async #poll(): Promise<void> {
    Atomics.wait(never, 0, 0, openLoopPauseMs);
    this.#polledBefore = this.#polledAt;
    this.#polledAt = this.#clock.monotonic();
    await new Promise(setImmediate);
  }

  async #drain(): Promise<void> {
    const end = this.#clock.monotonic() + drainMs;
    const isOpen = this.#timing.rate !== undefined;
    while (this.#underWay > 0 && this.#clock.monotonic() < end) await (isOpen ? this.#poll() : this.#pause(2));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  #result(): LoadMeasurements {
    const lastAt = this.#lastResponseAt;
    const end = this.#timing.rate ? lastAt : Math.max(this.#measuredAt, Math.min(this.#measureTo, lastAt));
    const seconds = Math.max(0, (end - this.#measureFrom) / 1000);
    return {
      seconds,
      rps: seconds > 0 ? this.#measured / seconds : 0,
      sent: this.#sent,
      latencies: this.#latencies.counts,
      lateness: this.#lateness.counts,
      own: this.#own.counts,
      others: this.#others.counts,
      unanswered: this.#underWay,
    };
  }
}

export interface Schedule {
  /** Returns the due time of the next request (ms, monotonic); `undefined` if no request is due by `now`. */
  next(now: number): number | undefined;
  /** True if the schedule has no more requests after `now`. */
  over(now: number): boolean;
}

/** A thread's part of a schedule: every `of`th request, starting with the request at `index`. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

const everything: Share = { index: 0, of: 1 };

function computeShare(total: number, { index, of }: Share): number {
  return Math.max(0, Math.ceil((total - index) / of));
}

/** Returns a schedule at full speed: a request is due whenever a connection is idle, until `end` or the `limit`. */
export function closedLoop(end: number, limit: number, share = everything): Schedule {
  const total = computeShare(limit, share);
  let sent = 0;
  return {
    next(now) {
      if (now >= end || sent >= total) return undefined;
      sent++;
      return now;
    },
    over: (now) => now >= end || sent >= total,
  };
}

/**
 * Returns a schedule with a fixed rate, independent of the server: requests are due at equal intervals from `start`. A
 * request that must wait for an idle connection keeps its due time, so a stall shows in the latencies (no coordinated
 * omission).
 */
export function openLoop(start: number, rate: number, seconds: number, share = everything): Schedule {
  const total = computeShare(Math.floor(rate * seconds), share);
  let sent = 0;
  return {
    next(now) {
      const due = start + ((share.index + sent * share.of) * 1000) / rate;
      if (sent >= total || due > now) return undefined;
      sent++;
      return due;
    },
    over: () => sent >= total,
  };
}

/** Returns a schedule that ends at a given time, even if requests are still due. */
function until(end: number, schedule: Schedule): Schedule {
  return {
    next: (now) => (now >= end ? undefined : schedule.next(now)),
    over: (now) => now >= end || schedule.over(now),
  };
}
