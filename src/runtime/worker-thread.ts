import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { threadTime } from './clock.ts';
import { Histogram } from './histogram.ts';

/** The outcome of a call. Errors lose their code between threads, so it is sent as data. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: unknown; readonly message: string };

export interface Call {
  readonly id: number;
  readonly name: string;
  readonly task: unknown;
  /** Creation time: `threadTime`. */
  readonly at: number;
}

export interface Answer {
  readonly id: number;
  readonly outcome: Outcome;
}

/** The id of rings. */
export const rung = 0;

const wentWell: Answer = { id: rung, outcome: { ok: true, value: undefined } };

/**
 * Indexes of the counters in shared memory: items each thread has put into the channel, successful rings, and whether the
 * doorbell is rung.
 */
export const signals = { calls: 0, answers: 1, rings: 2, done: 3 } as const;

/** Data with which a thread is started. */
export interface CallChannel {
  readonly port: MessagePort;
  /** See `signals`. */
  readonly signal: Int32Array;
  /** Time of the last ring: `threadTime`. */
  readonly rungAt: Float64Array;
  /** Memory of the histogram in which the thread counts the waiting times of calls, seconds. */
  readonly delays: ArrayBufferLike;
}

/**
 * A thread that answers calls in order. An answer arrives as an event of the event loop; `collect` takes the available answers
 * at once.
 */
export class WorkerThread {
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(16));
  readonly #rungAt = new Float64Array(new SharedArrayBuffer(8));
  /** Waiting times of calls, seconds. */
  readonly delays = Histogram.shared();
  readonly #pending = new Map<number, (outcome: Outcome) => void>();
  readonly #ended: Promise<void>;
  #calls = 0;
  #answers = 0;
  /** Number of successful rings. */
  #done = 0;
  #over = false;

  /**
   * @param file its module, which must call `answerCalls`
   * @param data passed to the module besides the channel
   */
  constructor(file: string, data: object) {
    const { port1, port2 } = new MessageChannel();
    const shared = { signal: this.#signal, rungAt: this.#rungAt, delays: this.delays.memory };
    const channel: CallChannel = { port: port2, ...shared };
    const worker = new Worker(file, { workerData: { ...data, channel }, transferList: [port2] });
    this.#port = port1;
    port1.on('message', (answer: Answer) => this.#settle(answer));
    this.#ended = new Promise((resolve) => {
      worker.once('error', (error) => resolve(this.#end(error.message)));
      worker.once('exit', () => resolve(this.#end('the thread has ended')));
    });
  }

  /** Arguments are cloned, except shared memory. */
  call(name: string, task?: unknown): Promise<Outcome> {
    this.#calls += 1;
    const id = this.#calls;
    return this.#wake(id, () => this.#port.postMessage({ id, name, task, at: threadTime() } satisfies Call));
  }

  /**
   * Calls the thread's ring action. Nothing is cloned: arguments and results are in shared memory, and no message is returned
   * unless it fails. That saves most of the CPU time of a call. Only one ring may be in flight.
   */
  ring(): Promise<Outcome> {
    const { async, value } = Atomics.waitAsync(this.#signal, signals.done, this.#done);
    if (async) void value.then(() => this.#collectRing());
    return this.#wake(rung, () => {
      this.#rungAt[0] = threadTime();
      Atomics.store(this.#signal, signals.rings, 1);
    });
  }

  #wake(id: number, put: () => void): Promise<Outcome> {
    return new Promise((resolve) => {
      if (this.#over) return resolve({ ok: false, code: undefined, message: 'the thread has ended' });
      this.#pending.set(id, resolve);
      put();
      Atomics.add(this.#signal, signals.calls, 1);
      Atomics.notify(this.#signal, signals.calls);
    });
  }

  /** Takes the answers that have arrived. Without any, this costs one read of shared memory. */
  collect(): void {
    this.#collectRing();
    if (Atomics.load(this.#signal, signals.answers) === this.#answers) return;
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) return;
      this.#settle(received.message as Answer);
    }
  }

  /** Resolves when the thread has stopped after its last call. */
  ended(): Promise<void> {
    return this.#ended;
  }

  #settle(answer: Answer): void {
    this.#answers += 1;
    this.#resolve(answer);
  }

  #collectRing(): void {
    const done = Atomics.load(this.#signal, signals.done);
    if (done === this.#done) return;
    this.#done = done;
    this.#resolve(wentWell);
  }

  #resolve({ id, outcome }: Answer): void {
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    resolve?.(outcome);
  }

  /** Fails all pending calls: none will be answered. */
  #end(message: string): void {
    this.#over = true;
    this.collect();
    for (const resolve of this.#pending.values()) resolve({ ok: false, code: undefined, message });
    this.#pending.clear();
    this.#port.close();
  }
}
