import { Histogram } from './histogram.ts';
import { closedLoop, openLoop, type Schedule, until } from './schedule.ts';

/** Time to wait for missing responses after the last request was due. */
const drainMs = 10_000;
/** Polling interval of an open loop: short compared with the measured latencies. */
const openLoopPauseMs = 0.02;
const never = new Int32Array(new SharedArrayBuffer(4));

/** The schedule of requests, and the part of it that is measured. */
export interface Timing {
  /** Length of the warm-up, whose responses are counted but not measured. */
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Requests per second of an open loop. Without it the next request follows each response. */
  readonly rate?: number;
  /** Maximum number of requests of a closed loop. */
  readonly limit?: number;
  /**
   * For an open loop that offers more than the target accepts: latencies count from sending, and requests that found no idle
   * connection before the end are omitted.
   */
  readonly overload?: boolean;
}

/**
 * The measurements. Latencies are milliseconds of successful requests; in an open loop they count from the time at which a request
 * was due.
 */
export interface Measured {
  /** Length of the measured period. */
  readonly seconds: number;
  /** Successful requests per second in the measured period. */
  readonly rps: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  /** Cores used by the generator itself: near 1, the generator is the bottleneck instead of the target. */
  readonly cpuShare: number;
}

/**
 * Sends requests on a schedule, for any protocol. A slot can have one request in progress: it is a connection, or a stream of one.
 */
export class LoadRun<Slot> {
  readonly #timing: Timing;
  readonly #send: (slot: Slot, dueAt: number) => void;
  readonly #latencies = new Histogram();
  readonly #free: Slot[] = [];
  #schedule: Schedule = { next: () => undefined, over: () => true };
  #measureFrom = 0;
  #measureTo = 0;
  #slots = 0;
  #underWay = 0;
  /** Successful requests within the measured period. */
  #measured = 0;
  #lastAnswerAt = 0;

  /** @param send starts the request of a slot, whose latency counts from `dueAt` */
  constructor(timing: Timing, send: (slot: Slot, dueAt: number) => void) {
    this.#timing = timing;
    this.#send = send;
  }

  /** Adds an idle slot. */
  add(slot: Slot): void {
    this.#slots++;
    this.#free.push(slot);
    this.#pump();
  }

  /** Removes a slot. @param busy whether it has a request in progress */
  remove(slot: Slot, busy: boolean): void {
    this.#slots--;
    if (busy) this.#underWay--;
    else this.#free.splice(this.#free.indexOf(slot), 1);
  }

  /** Whether no more requests will be due. */
  get isOver(): boolean {
    return this.#schedule.over(performance.now());
  }

  /** Counts the response to a slot's request, and sends the next one on it. @param well whether the response is as expected */
  answered(slot: Slot, dueAt: number, well: boolean): void {
    const now = performance.now();
    this.#underWay--;
    this.#lastAnswerAt = now;
    if (well && dueAt >= this.#measureFrom) this.#latencies.record(now - dueAt);
    if (well && now >= this.#measureFrom && (now <= this.#measureTo || this.#timing.rate)) this.#measured++;
    const due = this.#schedule.next(now);
    if (due === undefined) this.#free.push(slot);
    else this.#begin(slot, due);
  }

  /** Sends everything and waits for the responses. @returns includes the number of missing responses */
  async run(): Promise<Measured & { readonly unanswered: number }> {
    const cpu = process.cpuUsage();
    const start = performance.now();
    this.#schedule = this.#scheduleFrom(start);
    this.#pump();
    await (this.#timing.rate === undefined ? this.#wait() : this.#pace());
    await this.#drain();
    const { user, system } = process.cpuUsage(cpu);
    const cpuShare = (user + system) / 1000 / (performance.now() - start);
    return { ...this.#result(), cpuShare, unanswered: this.#underWay };
  }

  #scheduleFrom(start: number): Schedule {
    const { warmupSeconds, seconds, rate, limit, overload } = this.#timing;
    this.#measureFrom = start + warmupSeconds * 1000;
    this.#measureTo = this.#measureFrom + seconds * 1000;
    if (rate === undefined) return closedLoop(this.#measureTo, limit ?? Number.POSITIVE_INFINITY);
    const open = openLoop(start, rate, warmupSeconds + seconds);
    return overload ? until(this.#measureTo, open) : open;
  }

  /** Assigns every due request to an idle slot. */
  #pump(): void {
    while (this.#free.length > 0) {
      const due = this.#schedule.next(performance.now());
      if (due === undefined) return;
      this.#begin(this.#free.shift() as Slot, due);
    }
  }

  #begin(slot: Slot, due: number): void {
    this.#underWay++;
    this.#send(slot, this.#timing.overload ? performance.now() : due);
  }

  async #wait(): Promise<void> {
    while (!this.isOver && this.#slots > 0) await Bun.sleep(5);
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
    const end = performance.now() + drainMs;
    while (this.#underWay > 0 && performance.now() < end) await Bun.sleep(2);
  }

  #result(): Omit<Measured, 'cpuShare'> {
    const end = this.#timing.rate ? this.#lastAnswerAt : Math.min(this.#measureTo, this.#lastAnswerAt);
    const seconds = (end - this.#measureFrom) / 1000;
    return {
      seconds,
      rps: seconds > 0 ? this.#measured / seconds : 0,
      p50: this.#latencies.quantile(0.5),
      p90: this.#latencies.quantile(0.9),
      p99: this.#latencies.quantile(0.99),
      p999: this.#latencies.quantile(0.999),
    };
  }
}
