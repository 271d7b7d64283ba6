import threads, { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Histogram } from './histogram.ts';
import {
  type Actions,
  type Call,
  type CallChannel,
  type CallResponse,
  closing,
  signals,
  ThreadCalls,
} from './thread-calls.ts';

/**
 * A long-lived thread, and the calls to it. The thread's module responds to calls in order, with `serveCalls`, or in
 * any order, as the other end of `ThreadCalls`. Functions that any thread can run use Piscina instead.
 */
export class WorkerThread<Remote extends Actions<keyof Remote>> extends ThreadCalls<Remote> {
  /** Delays of the thread's event loop in seconds: see `CallChannel`. */
  readonly delays: Histogram;
  /** Resolves with the reason once the thread has stopped. */
  readonly ended: Promise<string>;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  #responses = 0;

  /**
   * @param file the module of the thread, which calls `threadStart`
   * @param data passed to the module in addition to the channel
   * @param actions the functions that the thread calls
   * @param ports the message ports in `data`
   */
  constructor(file: string, data: object, actions?: object, ports: readonly MessagePort[] = []) {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(8));
    const delays = Histogram.shared();
    const channel: CallChannel = { port: port2, signal, delays: delays.memory };
    const workerData = { ...data, channel };
    const transferList = [port2, ...ports];
    // Bun's `smol` collects garbage earlier. The heap of a thread with many batches otherwise grows by 45 MB.
    const heap = { smol: true };
    const worker = new threads.Worker(file, { name: threadName(file), workerData, transferList, ...heap });
    super({ port: port1, signal }, actions);
    this.delays = delays;
    this.#port = port1;
    this.#signal = signal;
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

  /** The shared memory of the signals. A change of its word `signals.calls` wakes the thread: see `serveCalls`. */
  get bell(): Int32Array {
    return this.#signal;
  }

  /**
   * Processes arrived responses without waiting for the event loop. Without responses, a call only reads one number.
   */
  collect(): void {
    if (Atomics.load(this.#signal, signals.responses) === this.#responses) return;
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) return;
      this.take(received.message as Call | CallResponse);
    }
  }

  /** Calls the action `close`, and resolves when the thread has stopped. */
  async close(): Promise<void> {
    await this.request(closing);
    await this.ended;
  }

  protected override settle(response: CallResponse): void {
    this.#responses += 1;
    super.settle(response);
  }
}

/**
 * Returns the thread name that the operating system shows, as in `top -H`: `journal` for `…/journal-worker.js`,
 * `backup` for `…/backup/worker.js`.
 */
function threadName(file: string): string {
  return /([^/-]+)[/-]worker\.\w+$/.exec(file)?.[1] ?? 'worker';
}
