import { LoadRun, newSlot, type Slot } from '../src/bench/load/load-run.ts';
import type { GrpcPlan, LoadReport } from '../src/bench/load/plan.ts';
import { stampReport } from '../src/bench/load/reports.ts';
import { combine } from '../src/bench/load/run-load.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { Http2Connection } from './http2-connection.ts';

/** A stream of a connection, with at most one call in progress. */
interface Caller extends Slot {
  readonly connection: Http2Connection;
  readonly instance: number;
  /** Callers on the connection that have a call in progress, by stream. */
  readonly busy: Map<number, Caller>;
}

/** Makes the calls of a plan in this process, and waits for every response. */
class GrpcDriver {
  readonly #plan: GrpcPlan;
  readonly #message: Buffer;
  readonly #response: Buffer;
  readonly #load: LoadRun<Caller>;
  #number: number;
  #succeeded = 0;
  #failed = 0;

  constructor(plan: GrpcPlan) {
    this.#plan = plan;
    this.#message = Buffer.from(plan.message, 'base64');
    this.#response = Buffer.from(plan.response, 'base64');
    this.#number = plan.firstNumber;
    this.#load = new LoadRun(plan, { index: 0, of: 1 }, systemClock, (caller) => this.#call(caller));
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
    const busy = new Map<number, Caller>();
    const callers: Caller[] = [];
    let connection: Http2Connection | undefined;
    const socket = await Bun.connect({
      hostname: host,
      port,
      socket: {
        data: (_, chunk) => connection?.receive(chunk),
        drain: () => connection?.flush(),
        close: () => this.#lost(callers),
      },
    });
    const opened = new Http2Connection(socket, `${host}:${port}`, path, (stream, message) => {
      const caller = busy.get(stream);
      busy.delete(stream);
      if (caller !== undefined) this.#countResponse(caller, message);
    });
    connection = opened;
    for (let stream = 0; stream < streams; stream++) callers.push({ ...newSlot, connection: opened, instance, busy });
    for (const caller of callers) this.#load.add(caller);
  }

  #call(caller: Caller): void {
    stampReport(this.#message, this.#plan.positions, caller.instance, this.#number++);
    caller.busy.set(caller.connection.call(Buffer.from(this.#message)), caller);
  }

  #countResponse(caller: Caller, message: Uint8Array | undefined): void {
    const success = message !== undefined && this.#response.equals(message);
    if (success) this.#succeeded++;
    else this.#failed++;
    this.#load.countResponse(caller, success);
  }

  /** Handles a lost connection. Its calls have failed, and it is not opened again. */
  #lost(callers: readonly Caller[]): void {
    const busy = new Set(callers[0]?.busy.values());
    this.#failed += busy.size;
    for (const caller of callers) this.#load.remove(caller, busy.has(caller));
    callers[0]?.busy.clear();
  }
}

const report = await new GrpcDriver((await Bun.stdin.json()) as GrpcPlan).run();
await Bun.write(Bun.stdout, JSON.stringify(report));
process.exit(0);
