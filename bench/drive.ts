import { Histogram } from './histogram.ts';
import type { LoadPlan, LoadReport } from './load.ts';
import { responseReader } from './responses.ts';
import { closedLoop, openLoop, type Schedule, until } from './schedule.ts';

/** How long, after the last request was due, to wait for the answers that are still out. */
const drainMs = 10_000;
/** Pause of an open loop between two looks at its schedule: short against the latencies that are measured. */
const openLoopPauseMs = 0.02;
const never = new Int32Array(new SharedArrayBuffer(4));

/** What is known of one keep-alive connection: at most one request is under way on it. */
interface Connection {
  socket: Bun.Socket<Connection>;
  /** Index of the request under way; -1 when the connection is free. */
  request: number;
  /** When the request under way was due, or was sent: what its latency counts from. */
  dueAt: number;
  /** What the socket would not take yet of the request under way. */
  unsent: Uint8Array | undefined;
  read: (chunk: Uint8Array) => void;
}

/**
 * Sends the plan's requests in this process and waits for every answer.
 * @throws {Error} when the target does not take the connections
 */
export async function drive(plan: LoadPlan): Promise<LoadReport> {
  return new Driver(plan).run();
}

class Driver {
  readonly #plan: LoadPlan;
  readonly #requests: readonly Uint8Array[];
  readonly #latencies = new Histogram();
  readonly #accepted: Uint32Array;
  readonly #errors = new Map<string, number>();
  readonly #free: Connection[] = [];
  #schedule: Schedule = { next: () => undefined, over: () => true };
  #measureFrom = 0;
  #measureTo = 0;
  #nextRequest = 0;
  #underWay = 0;
  #open = 0;
  /** Requests that went well within the measured time. */
  #measured = 0;
  #lastAnswerAt = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#requests = plan.requests.map((request) => Buffer.from(request));
    this.#accepted = new Uint32Array(plan.requests.length);
  }

  async run(): Promise<LoadReport> {
    const { connections } = this.#plan;
    await Promise.all(Array.from({ length: connections }, () => this.#connect()));
    const cpu = process.cpuUsage();
    const start = performance.now();
    this.#schedule = this.#begin(start);
    this.#pump();
    await (this.#plan.rate === undefined ? this.#wait() : this.#pace());
    await this.#drain();
    const { user, system } = process.cpuUsage(cpu);
    return this.#report((user + system) / 1000 / (performance.now() - start));
  }

  #begin(start: number): Schedule {
    const { warmupSeconds, seconds, rate, limit, overload } = this.#plan;
    this.#measureFrom = start + warmupSeconds * 1000;
    this.#measureTo = this.#measureFrom + seconds * 1000;
    if (rate === undefined) return closedLoop(this.#measureTo, limit ?? Number.POSITIVE_INFINITY);
    const open = openLoop(start, rate, warmupSeconds + seconds);
    return overload ? until(this.#measureTo, open) : open;
  }

  async #connect(): Promise<void> {
    const connection: Partial<Connection> = { request: -1, dueAt: 0, unsent: undefined };
    const ready = connection as Connection;
    ready.read = responseReader((status) => this.#answered(ready, status));
    ready.socket = await Bun.connect<Connection>({
      hostname: this.#plan.host,
      port: this.#plan.port,
      data: ready,
      socket: {
        data: (socket, chunk) => socket.data.read(chunk),
        drain: (socket) => this.#flush(socket.data),
        close: (socket) => this.#closed(socket.data),
        error: (socket) => this.#unreadable(socket),
      },
    });
    this.#open++;
    this.#free.push(ready);
  }

  /** Gives every request that is due to a free connection. */
  #pump(): void {
    while (this.#free.length > 0) {
      const due = this.#schedule.next(performance.now());
      if (due === undefined) return;
      this.#send(this.#free.pop() as Connection, due);
    }
  }

  #send(connection: Connection, due: number): void {
    connection.request = this.#nextRequest;
    this.#nextRequest = (this.#nextRequest + 1) % this.#requests.length;
    connection.dueAt = this.#plan.overload ? performance.now() : due;
    connection.unsent = this.#requests[connection.request];
    this.#underWay++;
    this.#flush(connection);
  }

  #flush(connection: Connection): void {
    if (connection.unsent === undefined) return;
    const sent = Math.max(0, connection.socket.write(connection.unsent));
    connection.unsent = sent < connection.unsent.length ? connection.unsent.subarray(sent) : undefined;
  }

  #answered(connection: Connection, status: number): void {
    if (connection.request < 0) {
      this.#failed('unasked');
      return;
    }
    const now = performance.now();
    this.#underWay--;
    this.#lastAnswerAt = now;
    const well = status === (this.#plan.status ?? 202);
    if (well) this.#accepted[connection.request]!++;
    else this.#failed(String(status));
    if (well && connection.dueAt >= this.#measureFrom) this.#latencies.record(now - connection.dueAt);
    if (well && now >= this.#measureFrom && (now <= this.#measureTo || this.#plan.rate)) this.#measured++;
    connection.request = -1;
    const due = this.#schedule.next(now);
    if (due === undefined) this.#free.push(connection);
    else this.#send(connection, due);
  }

  #failed(what: string): void {
    this.#errors.set(what, (this.#errors.get(what) ?? 0) + 1);
  }

  /** What came is no response, so where the next one begins is not known. */
  #unreadable(socket: Bun.Socket<Connection>): void {
    this.#failed('unreadable');
    socket.terminate();
  }

  /** The server should keep its connections: a lost one is an error, and is opened again. */
  #closed(connection: Connection): void {
    this.#open--;
    if (connection.request >= 0) this.#underWay--;
    else this.#free.splice(this.#free.indexOf(connection), 1);
    if (this.#schedule.over(performance.now()) && connection.request < 0) return;
    this.#failed('closed');
    this.#connect().then(
      () => this.#pump(),
      () => this.#failed('connect'),
    );
  }

  async #wait(): Promise<void> {
    while (!this.#schedule.over(performance.now()) && this.#open > 0) await Bun.sleep(5);
  }

  /** Timers are too coarse for an open loop (1 ms), and spinning would take a core from what is measured. */
  async #pace(): Promise<void> {
    while (!this.#schedule.over(performance.now()) && this.#open > 0) {
      this.#pump();
      Atomics.wait(never, 0, 0, openLoopPauseMs);
      await new Promise(setImmediate);
    }
  }

  async #drain(): Promise<void> {
    const end = performance.now() + drainMs;
    while (this.#underWay > 0 && performance.now() < end) await Bun.sleep(2);
    if (this.#underWay > 0) this.#errors.set('unanswered', this.#underWay);
  }

  #report(cpuShare: number): LoadReport {
    const window = this.#plan.rate ? this.#lastAnswerAt : Math.min(this.#measureTo, this.#lastAnswerAt);
    const elapsed = (window - this.#measureFrom) / 1000;
    return {
      requests: this.#accepted.reduce((sum, count) => sum + count, 0),
      accepted: [...this.#accepted],
      errors: Object.fromEntries(this.#errors),
      seconds: elapsed,
      rps: elapsed > 0 ? this.#measured / elapsed : 0,
      p50: this.#latencies.quantile(0.5),
      p90: this.#latencies.quantile(0.9),
      p99: this.#latencies.quantile(0.99),
      p999: this.#latencies.quantile(0.999),
      cpuShare,
    };
  }
}
