import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { threadTime } from './clock.ts';
import { Histogram } from './histogram.ts';
import {
  type Actions,
  type Answer,
  type Call,
  type CallChannel,
  closing,
  type Outcome,
  signals,
  ThreadCalls,
} from './thread-calls.ts';

/** The id of rings. */
export const rung = 0;

const wentWell: Answer = { id: rung, outcome: { ok: true, value: undefined } };

/**
 * A long-lived thread, and the calls to it. Its module answers either with `answerCalls`, in order, or as the other end of the
 * `ThreadCalls`. Functions that any thread may run are called through Piscina, which replaces threads that stop.
 */
export class WorkerThread<Remote extends Actions<keyof Remote>> extends ThreadCalls<Remote> {
  /** Delays of the thread, seconds: see `CallChannel`. */
  readonly delays: Histogram;
  /** Resolves with the reason when the thread has stopped. */
  readonly ended: Promise<string>;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  readonly #rungAt: Float64Array;
  #answers = 0;
  /** Number of successful rings. */
  #done = 0;

  /**
   * @param file its module, which takes its `threadStart`
   * @param data passed to the module besides the channel
   * @param actions those that the thread may call
   */
  constructor(file: string, data: object, actions?: object) {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(16));
    const rungAt = new Float64Array(new SharedArrayBuffer(8));
    const delays = Histogram.shared();
    const channel: CallChannel = { port: port2, signal, rungAt, delays: delays.memory };
    const worker = new Worker(file, { workerData: { ...data, channel }, transferList: [port2] });
    super({ port: port1, signal }, actions);
    this.delays = delays;
    this.#port = port1;
    this.#signal = signal;
    this.#rungAt = rungAt;
    this.ended = new Promise((resolve) => {
      const stop = (reason: string) => {
        this.collect();
        this.end(reason);
        resolve(reason);
      };
      worker.once('error', ({ message }) => stop(message));
      worker.once('exit', () => stop('the thread has ended'));
    });
  }

  /**
   * Calls the ring action of `answerCalls`. Nothing is cloned: arguments and results are in shared memory, and no message is
   * returned unless it fails. That saves most of the CPU time of a call. Only one ring may be in flight.
   */
  ring(): Promise<Outcome> {
    const { async, value } = Atomics.waitAsync(this.#signal, signals.done, this.#done);
    if (async) void value.then(() => this.#collectRing());
    return this.sent(rung, () => {
      this.#rungAt[0] = threadTime();
      Atomics.store(this.#signal, signals.rings, 1);
    });
  }

  /** Takes the answers that have arrived, before the event loop delivers them. Without any, this costs one read of shared memory. */
  collect(): void {
    this.#collectRing();
    if (Atomics.load(this.#signal, signals.answers) === this.#answers) return;
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) return;
      this.take(received.message as Call | Answer);
    }
  }

  /** Calls the action `close`, and resolves when the thread has stopped. */
  async close(): Promise<void> {
    await this.request(closing);
    await this.ended;
  }

  protected override settle(answer: Answer): void {
    this.#answers += 1;
    super.settle(answer);
  }

  #collectRing(): void {
    const done = Atomics.load(this.#signal, signals.done);
    if (done === this.#done) return;
    this.#done = done;
    super.settle(wentWell);
  }
}
