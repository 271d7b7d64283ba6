import type { TimerClock } from '../../runtime/clock.ts';
import { increase } from '../../runtime/counts.ts';
import { type LoadResult, LoadRun, newSlot, type Share, type Slot } from './load-run.ts';
import type { HttpPlan } from './plan.ts';
import { responseReader } from './responses.ts';

/** State of a keep-alive connection, with at most one request in progress. */
interface Connection extends Slot {
  socket: Bun.Socket<Connection>;
  /** Index of the request in progress; -1 if the connection is idle. */
  request: number;
  /** The part of the request in progress that the socket has not accepted yet. */
  unsent: Uint8Array | undefined;
  read: (chunk: Uint8Array) => void;
}

/** Sends this thread's share of the requests of a plan, and waits for every response. */
export class HttpDriver {
  readonly #plan: HttpPlan;
  readonly #share: Share;
  readonly #clock: TimerClock;
  readonly #requests: readonly Buffer[];
  readonly #load: LoadRun<Connection>;
  readonly #accepted: Uint32Array;
  readonly #errors = new Map<string, number>();
  #nextRequest: number;
  #microsecond: number;

  constructor(plan: HttpPlan, share: Share, clock: TimerClock) {
    this.#plan = plan;
    this.#share = share;
    this.#clock = clock;
    this.#requests = plan.requests.map((request) => Buffer.from(request, plan.encoding));
    this.#accepted = new Uint32Array(plan.requests.length);
    this.#load = new LoadRun(plan, share, clock, (connection) => this.#send(connection));
    this.#nextRequest = share.index % plan.requests.length;
    this.#microsecond = share.index;
  }

  /** @throws {Error} if no server listens at the address */
  async connect(connections: number): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.#connect()));
  }

  async run(): Promise<LoadResult> {
    const measured = await this.#load.run();
    if (measured.unanswered > 0) this.#errors.set('unanswered', measured.unanswered);
    return { ...measured, accepted: [...this.#accepted], errors: Object.fromEntries(this.#errors) };
  }

  async #connect(): Promise<void> {
    const connection: Partial<Connection> = { ...newSlot, request: -1, unsent: undefined };
    const ready = connection as Connection;
    ready.read = responseReader((status) => this.#countResponse(ready, status));
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

  #send(connection: Connection): void {
    connection.request = this.#nextRequest;
    this.#nextRequest = (this.#nextRequest + this.#share.of) % this.#requests.length;
    connection.unsent = this.#timed(this.#requests[connection.request]!);
    this.#flush(connection);
  }

  /** Returns a copy of a request that contains the time of sending. */
  #timed(request: Buffer): Buffer {
    const { time } = this.#plan;
    if (time === undefined) return request;
    const copy = Buffer.from(request);
    this.#microsecond = (this.#microsecond + this.#share.of) % 1000;
    const now = new Date(this.#clock.now()).toISOString().slice(0, -1);
    copy.write(`${now}${String(this.#microsecond).padStart(3, '0')}Z`, copy.indexOf(time), 'latin1');
    return copy;
  }

  #flush(connection: Connection): void {
    if (connection.unsent === undefined) return;
    const sent = Math.max(0, connection.socket.write(connection.unsent));
    connection.unsent = sent < connection.unsent.length ? connection.unsent.subarray(sent) : undefined;
  }

  #countResponse(connection: Connection, status: number): void {
    if (connection.request < 0) {
      this.#failed('unasked');
      return;
    }
    const well = status === (this.#plan.status ?? 202);
    if (well) this.#accepted[connection.request]!++;
    else this.#failed(String(status));
    connection.request = -1;
    this.#load.countResponse(connection, well);
  }

  #failed(what: string): void {
    increase(this.#errors, what);
  }

  /** Closes a connection after data that is not a response, because the start of the next response is unknown. */
  #unreadable(socket: Bun.Socket<Connection>): void {
    this.#failed('unreadable');
    socket.terminate();
  }

  /** Reopens a lost connection. The loss counts as an error, because a server should keep connections open. */
  #closed(connection: Connection): void {
    const busy = connection.request >= 0;
    this.#load.remove(connection, busy);
    if (this.#load.isOver && !busy) return;
    this.#failed('closed');
    this.#load.expect(this.#connect()).catch(() => this.#failed('connect'));
  }
}
