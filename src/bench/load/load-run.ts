import type { TimerClock } from '../../runtime/clock.ts';
import { Histogram } from './histogram.ts';
import type { Timing } from './plan.ts';
import { closedLoop, openLoop, type Schedule, type Share, until } from './schedule.ts';

/** Time to wait for missing responses after the last request was due. */
const drainMs = 10_000;
/** Polling interval of an open loop: short compared with the measured latencies. */
const openLoopPauseMs = 0.02;
const never = new Int32Array(new SharedArrayBuffer(4));

/** The measurements of one thread: see `LoadReport`. */
export interface Measured {
  readonly seconds: number;
  readonly rps: number;
  readonly sent: number;
  /** The counts of the histogram. */
  readonly latencies: Uint32Array;
  readonly lateness: Uint32Array;
  /** Number of missing responses. */
  readonly unanswered: number;
}

/** A slot without a request. */
interface Idle<Slot> {
  readonly slot: Slot;
  readonly since: number;
}

/**
 * Sends requests on a schedule, for any protocol. A slot can have one request in progress: it is a connection, or a stream of one.
 */
export class LoadRun<Slot> {
  readonly #timing: Timing;
  readonly #share: Share;
  readonly #clock: TimerClock;
  readonly #send: (slot: Slot, dueAt: number) => void;
  readonly #latencies = new Histogram();
  readonly #lateness = new Histogram();
  readonly #idle: Idle<Slot>[] = [];
  #schedule: Schedule = { next: () => undefined, over: () => true };
  #measureFrom = 0;
  #measureTo = 0;
  #slots = 0;
  #sent = 0;
  #underWay = 0;
  /** Successful requests within the measured period. */
  #measured = 0;
  #lastAnswerAt = 0;

  /** @param send starts the request of a slot, whose latency counts from `dueAt` */
  constructor(timing: Timing, share: Share, clock: TimerClock, send: (slot: Slot, dueAt: number) => void) {
    this.#timing = timing;
    this.#share = share;
    this.#clock = clock;
    this.#send = send;
  }

  /** Adds an idle slot. */
  add(slot: Slot): void {
    this.#slots++;
    this.#rest(slot, this.#clock.monotonic());
    this.#pump();
  }

  /** Removes a slot. @param busy whether it has a request in progress */
  remove(slot: Slot, busy: boolean): void {
    this.#slots--;
    if (busy) this.#underWay--;
    else
      this.#idle.splice(
        this.#idle.findIndex((idle) => idle.slot === slot),
        1,
      );
  }

  /** Whether no more requests will be due. */
  get isOver(): boolean {
    return this.#schedule.over(this.#clock.monotonic());
  }

  /** Counts the response to a slot's request, and sends the next one on it. @param well whether the response is as expected */
  answered(slot: Slot, dueAt: number, well: boolean): void {
    const now = this.#clock.monotonic();
    this.#underWay--;
    this.#lastAnswerAt = now;
    if (well && dueAt >= this.#measureFrom) this.#latencies.record(now - dueAt);
    if (well && now >= this.#measureFrom && (now <= this.#measureTo || this.#timing.rate)) this.#measured++;
    const due = this.#schedule.next(now);
    if (due === undefined) this.#rest(slot, now);
    else this.#begin(slot, due, now, now);
  }

  /** Sends everything and waits for the responses. */
  async run(): Promise<Measured> {
    this.#schedule = this.#scheduleFrom(this.#clock.monotonic());
    this.#pump();
    await (this.#timing.rate === undefined ? this.#wait() : this.#pace());
    await this.#drain();
    return this.#result();
  }

  #scheduleFrom(start: number): Schedule {
    const { warmupSeconds, seconds, rate, limit, overload } = this.#timing;
    this.#measureFrom = start + warmupSeconds * 1000;
    this.#measureTo = this.#measureFrom + seconds * 1000;
    if (rate === undefined)
      return closedLoop(this.#measureTo, limit ?? Number.POSITIVE_INFINITY, this.#share);
    const open = openLoop(start, rate, warmupSeconds + seconds, this.#share);
    return overload ? until(this.#measureTo, open) : open;
  }

  #rest(slot: Slot, since: number): void {
    this.#idle.push({ slot, since });
  }

  /** Assigns every due request to an idle slot. */
  #pump(): void {
    while (this.#idle.length > 0) {
      const now = this.#clock.monotonic();
      const due = this.#schedule.next(now);
      if (due === undefined) return;
      const { slot, since } = this.#idle.shift()!;
      this.#begin(slot, due, since, now);
    }
  }

  /** @param since the time at which the slot became idle */
  #begin(slot: Slot, due: number, since: number, now: number): void {
    this.#underWay++;
    this.#sent++;
    if (due >= this.#measureFrom) this.#lateness.record(now - Math.max(due, since));
    this.#send(slot, this.#timing.overload ? now : due);
  }

  async #wait(): Promise<void> {
    while (!this.isOver && this.#slots > 0) await this.#pause(5);
  }

  /** Timers are too coarse for an open loop (1 ms), and spinning would take a core from the target. */
  async #pace(): Promise<void> {
    while (!this.isOver && this.#slots > 0) {
      this.#pump();
      Atomics.wait(never, 0, 0, openLoopPauseMs);
      await new Promise(setImmediate);
    }
  }

  async #drain(): Promise<void> {
    const end = this.#clock.monotonic() + drainMs;
    while (this.#underWay > 0 && this.#clock.monotonic() < end) await this.#pause(2);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  #result(): Measured {
    const end = this.#timing.rate ? this.#lastAnswerAt : Math.min(this.#measureTo, this.#lastAnswerAt);
    const seconds = Math.max(0, (end - this.#measureFrom) / 1000);
    return {
      seconds,
      rps: seconds > 0 ? this.#measured / seconds : 0,
      sent: this.#sent,
      latencies: this.#latencies.counts,
      lateness: this.#lateness.counts,
      unanswered: this.#underWay,
    };
  }
}
