import { generateHere } from './generator.ts';
import type { LoadPlan, LoadReport } from './load.ts';
import { LoadRun } from './load-run.ts';
import { responseReader } from './responses.ts';

/** State of a keep-alive connection, with at most one request in progress. */
interface Connection {
  socket: Bun.Socket<Connection>;
  /** Index of the request in progress; -1 if the connection is idle. */
  request: number;
  /** Start time for the latency of the request in progress. */
  dueAt: number;
  /** The part of the request in progress that the socket has not accepted yet. */
  unsent: Uint8Array | undefined;
  read: (chunk: Uint8Array) => void;
}

/** Sends a plan's requests in this process and waits for every response. */
class Driver {
  readonly #plan: LoadPlan;
  readonly #requests: readonly Buffer[];
  readonly #load: LoadRun<Connection>;
  readonly #accepted: Uint32Array;
  readonly #errors = new Map<string, number>();
  #nextRequest = 0;
  #sent = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#requests = plan.requests.map((request) => Buffer.from(request, plan.encoding));
    this.#accepted = new Uint32Array(plan.requests.length);
    this.#load = new LoadRun(plan, (connection, dueAt) => this.#send(connection, dueAt));
  }

  async run(): Promise<LoadReport> {
    await Promise.all(Array.from({ length: this.#plan.connections }, () => this.#connect()));
    const { unanswered, ...measured } = await this.#load.run();
    if (unanswered > 0) this.#errors.set('unanswered', unanswered);
    return {
      ...measured,
      requests: this.#accepted.reduce((sum, count) => sum + count, 0),
      accepted: [...this.#accepted],
      errors: Object.fromEntries(this.#errors),
    };
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
    this.#load.add(ready);
  }

  #send(connection: Connection, dueAt: number): void {
    connection.request = this.#nextRequest;
    this.#nextRequest = (this.#nextRequest + 1) % this.#requests.length;
    connection.dueAt = dueAt;
    connection.unsent = this.#timed(this.#requests[connection.request]!);
    this.#flush(connection);
  }

  /** A copy of a request with the time of sending. */
  #timed(request: Buffer): Buffer {
    const { time } = this.#plan;
    if (time === undefined) return request;
    const copy = Buffer.from(request);
    this.#sent += 1;
    const now = new Date().toISOString().slice(0, -1);
    copy.write(`${now}${String(this.#sent % 1000).padStart(3, '0')}Z`, copy.indexOf(time), 'latin1');
    return copy;
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
    const well = status === (this.#plan.status ?? 202);
    if (well) this.#accepted[connection.request]!++;
    else this.#failed(String(status));
    connection.request = -1;
    this.#load.answered(connection, connection.dueAt, well);
  }

  #failed(what: string): void {
    this.#errors.set(what, (this.#errors.get(what) ?? 0) + 1);
  }

  /** The data received is not a response, so the start of the next one is unknown. */
  #unreadable(socket: Bun.Socket<Connection>): void {
    this.#failed('unreadable');
    socket.terminate();
  }

  /** The server should keep its connections. A lost one is an error, and is reopened. */
  #closed(connection: Connection): void {
    const busy = connection.request >= 0;
    this.#load.remove(connection, busy);
    if (this.#load.isOver && !busy) return;
    this.#failed('closed');
    this.#connect().catch(() => this.#failed('connect'));
  }
}

await generateHere((plan: LoadPlan) => new Driver(plan).run());
