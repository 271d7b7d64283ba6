import { Histogram } from './histogram.ts';
import { Http2Connection } from './http2-connection.ts';
import type { LoadReport } from './load.ts';
import { mark, type ReportMarks } from './report-call.ts';
import { closedLoop, openLoop, type Schedule } from './schedule.ts';

/** What the gRPC load generator is to do. */
export interface GrpcPlan {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Calls under way on each connection. */
  readonly streams: number;
  readonly path: string;
  /** The encoded message, in base64, and what makes each one another. Each connection is an instance. */
  readonly message: string;
  readonly marks: ReportMarks;
  /** Of the first report. */
  readonly firstNumber: number;
  /** The encoded answer of a call that succeeded, in base64. */
  readonly answer: string;
  /** Answers of the first seconds are counted but not measured. */
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Calls a second of an open loop; without it each stream is followed by the next as soon as it was answered. */
  readonly rate?: number;
}

/** As of a `LoadReport`: `requests` are the calls that succeeded, those of the warm-up too. */
export type GrpcReport = Pick<LoadReport, 'requests' | 'errors' | 'rps' | 'p50' | 'p99' | 'cpuShare'>;

/** How long, after the last call was due, to wait for the answers that are still out. */
const drainMs = 10_000;
const openLoopPauseMs = 0.02;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Runs the plan in a process of its own, so that the generator is the same whatever it drives.
 * @throws {Error} when the generator fails, with what it said
 */
export async function loadGrpc(plan: GrpcPlan): Promise<GrpcReport> {
  const generator = Bun.spawn([process.execPath, import.meta.path], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [report, code] = await Promise.all([new Response(generator.stdout).text(), generator.exited]);
  if (code !== 0) throw new Error(`the load generator failed with exit code ${code}`);
  return JSON.parse(report) as GrpcReport;
}

/** Makes the plan's calls in this process and waits for every answer. */
class GrpcDriver {
  readonly #plan: GrpcPlan;
  readonly #message: Buffer;
  readonly #answer: Buffer;
  readonly #latencies = new Histogram();
  readonly #known = new WeakMap<Http2Connection, { instance: number; due: Map<number, number> }>();
  /** Connections that may begin a call, once for each stream that is free. */
  readonly #free: Http2Connection[] = [];
  #schedule: Schedule = { next: () => undefined, over: () => true };
  #measureFrom = 0;
  #measureTo = 0;
  #number: number;
  #underWay = 0;
  #succeeded = 0;
  #failed = 0;
  #measured = 0;
  #lastAnswerAt = 0;

  constructor(plan: GrpcPlan) {
    this.#plan = plan;
    this.#message = Buffer.from(plan.message, 'base64');
    this.#answer = Buffer.from(plan.answer, 'base64');
    this.#number = plan.firstNumber;
  }

  async run(): Promise<GrpcReport> {
    const { connections, warmupSeconds, seconds, rate } = this.#plan;
    await Promise.all(Array.from({ length: connections }, (_, instance) => this.#connect(instance)));
    const cpu = process.cpuUsage();
    const start = performance.now();
    this.#measureFrom = start + warmupSeconds * 1000;
    this.#measureTo = this.#measureFrom + seconds * 1000;
    this.#schedule =
      rate === undefined
        ? closedLoop(this.#measureTo, Number.POSITIVE_INFINITY)
        : openLoop(start, rate, warmupSeconds + seconds);
    await this.#pace(rate !== undefined);
    await this.#drain();
    const { user, system } = process.cpuUsage(cpu);
    return this.#report((user + system) / 1000 / (performance.now() - start));
  }

  async #connect(instance: number): Promise<void> {
    const { host, port, path, streams } = this.#plan;
    /** When each call of this connection was due. */
    const due = new Map<number, number>();
    let connection: Http2Connection | undefined;
    const socket = await Bun.connect({
      hostname: host,
      port,
      socket: {
        data: (_, chunk) => connection?.receive(chunk),
        drain: () => connection?.flush(),
        close: () => this.#lost(due),
      },
    });
    connection = new Http2Connection(socket, `${host}:${port}`, path, (stream, message) => {
      const dueAt = due.get(stream)!;
      due.delete(stream);
      this.#answered(connection!, dueAt, message);
    });
    this.#known.set(connection, { instance, due });
    for (let stream = 0; stream < streams; stream++) this.#free.push(connection);
  }

  #pump(): void {
    while (this.#free.length > 0) {
      const due = this.#schedule.next(performance.now());
      if (due === undefined) return;
      this.#call(this.#free.shift()!, due);
    }
  }

  #call(connection: Http2Connection, dueAt: number): void {
    const { instance, due } = this.#known.get(connection)!;
    mark(this.#message, this.#plan.marks, instance, this.#number++);
    this.#underWay++;
    due.set(connection.call(Buffer.from(this.#message)), dueAt);
  }

  #answered(connection: Http2Connection, dueAt: number, message: Uint8Array | undefined): void {
    const now = performance.now();
    const success = message !== undefined && this.#answer.equals(message);
    this.#underWay--;
    this.#lastAnswerAt = now;
    if (success) this.#succeeded++;
    else this.#failed++;
    if (dueAt >= this.#measureFrom) this.#latencies.record(now - dueAt);
    if (success && now >= this.#measureFrom && (now <= this.#measureTo || this.#plan.rate)) this.#measured++;
    const due = this.#schedule.next(now);
    if (due === undefined) this.#free.push(connection);
    else this.#call(connection, due);
  }

  #lost(due: Map<number, number>): void {
    this.#failed += due.size;
    this.#underWay -= due.size;
    due.clear();
  }

  /** An open loop looks at its schedule all the time: timers are too coarse, and spinning would take a core. */
  async #pace(open: boolean): Promise<void> {
    this.#pump();
    while (!this.#schedule.over(performance.now())) {
      if (!open) {
        await Bun.sleep(5);
        continue;
      }
      this.#pump();
      Atomics.wait(never, 0, 0, openLoopPauseMs);
      await new Promise(setImmediate);
    }
  }

  async #drain(): Promise<void> {
    const end = performance.now() + drainMs;
    while (this.#underWay > 0 && performance.now() < end) await Bun.sleep(2);
    this.#failed += this.#underWay;
  }

  #report(cpuShare: number): GrpcReport {
    const window = this.#plan.rate ? this.#lastAnswerAt : Math.min(this.#measureTo, this.#lastAnswerAt);
    const elapsed = (window - this.#measureFrom) / 1000;
    return {
      requests: this.#succeeded,
      errors: this.#failed === 0 ? {} : { failed: this.#failed },
      rps: elapsed > 0 ? this.#measured / elapsed : 0,
      p50: this.#latencies.quantile(0.5),
      p99: this.#latencies.quantile(0.99),
      cpuShare,
    };
  }
}

if (import.meta.main) {
  const report = await new GrpcDriver((await Bun.stdin.json()) as GrpcPlan).run();
  await Bun.write(Bun.stdout, JSON.stringify(report));
  process.exit(0);
}
