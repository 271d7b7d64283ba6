import { LoadRun } from '../src/bench/load/load-run.ts';
import { combine } from '../src/bench/load/outcome.ts';
import type { GrpcPlan, LoadReport } from '../src/bench/load/plan.ts';
import { mark } from '../src/bench/load/reports.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { Http2Connection } from './http2-connection.ts';

/** A connection. It appears in the run once for each of its streams. */
interface Caller {
  readonly connection: Http2Connection;
  readonly instance: number;
  /** The due time of each call in progress, by stream. */
  readonly due: Map<number, number>;
}

/** Makes a plan's calls in this process and waits for every response. */
class GrpcDriver {
  readonly #plan: GrpcPlan;
  readonly #message: Buffer;
  readonly #answer: Buffer;
  readonly #load: LoadRun<Caller>;
  #number: number;
  #succeeded = 0;
  #failed = 0;

  constructor(plan: GrpcPlan) {
    this.#plan = plan;
    this.#message = Buffer.from(plan.message, 'base64');
    this.#answer = Buffer.from(plan.answer, 'base64');
    this.#number = plan.firstNumber;
    this.#load = new LoadRun(plan, { index: 0, of: 1 }, systemClock, (caller, dueAt) =>
      this.#call(caller, dueAt),
    );
  }

  async run(): Promise<LoadReport> {
    const { connections } = this.#plan;
    await Promise.all(Array.from({ length: connections }, (_, instance) => this.#connect(instance)));
    const before = { cpu: process.cpuUsage(), at: performance.now() };
    const measured = await this.#load.run();
    const { user, system } = process.cpuUsage(before.cpu);
    const failed = this.#failed + measured.unanswered;
    return combine(this.#plan.rate === undefined ? 'closed' : 'open', [
      {
        ...measured,
        accepted: [this.#succeeded],
        errors: failed === 0 ? {} : { failed },
        cpuSeconds: (user + system) / 1e6,
        elapsed: (performance.now() - before.at) / 1000,
      },
    ]);
  }

  async #connect(instance: number): Promise<void> {
    const { host, port, path, streams } = this.#plan;
    const due = new Map<number, number>();
    let caller: Caller | undefined;
    const socket = await Bun.connect({
      hostname: host,
      port,
      socket: {
        data: (_, chunk) => caller?.connection.receive(chunk),
        drain: () => caller?.connection.flush(),
        close: () => caller && this.#lost(caller),
      },
    });
    const connection = new Http2Connection(socket, `${host}:${port}`, path, (stream, message) => {
      if (caller) this.#answered(caller, stream, message);
    });
    caller = { connection, instance, due };
    for (let stream = 0; stream < streams; stream++) this.#load.add(caller);
  }

  #call({ connection, instance, due }: Caller, dueAt: number): void {
    mark(this.#message, this.#plan.marks, instance, this.#number++);
    due.set(connection.call(Buffer.from(this.#message)), dueAt);
  }

  #answered(caller: Caller, stream: number, message: Uint8Array | undefined): void {
    const dueAt = caller.due.get(stream)!;
    caller.due.delete(stream);
    const success = message !== undefined && this.#answer.equals(message);
    if (success) this.#succeeded++;
    else this.#failed++;
    this.#load.answered(caller, dueAt, success);
  }

  /** A lost connection is not reopened: its calls have failed. */
  #lost(caller: Caller): void {
    const busy = caller.due.size;
    this.#failed += busy;
    for (let stream = 0; stream < this.#plan.streams; stream++) this.#load.remove(caller, stream < busy);
    caller.due.clear();
  }
}

const report = await new GrpcDriver((await Bun.stdin.json()) as GrpcPlan).run();
await Bun.write(Bun.stdout, JSON.stringify(report));
process.exit(0);
