import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Refusal } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import { threadTime } from './clock.ts';
import { Histogram } from './histogram.ts';
import { logThreadConsole } from './log.ts';

/** The functions that a thread runs for another thread. */
export type Actions<Names extends PropertyKey = string> = {
  readonly [Name in Names]: (task: never) => unknown;
};

export const closing = 'close';

/** The result of an action. Cloning an error drops its class and code, so the result has them as data. */
export type CallResult<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

export interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  /** The code of the refusal, or the error number of LMDB or of the operating system. */
  readonly code: unknown;
  readonly isRefusal: boolean;
  readonly retryAfter: number | undefined;
}

export function describeFailure(error: unknown): Failure {
  const { message, stack, code, retryAfter } = error as Error & { code?: unknown; retryAfter?: number };
  return { message, stack, code, isRefusal: error instanceof Refusal, retryAfter };
}

/** Creates an error from the data of a result. A refusal becomes a `Refusal` again. Other errors keep their code. */
export function restoreError({ message, stack, code, isRefusal, retryAfter }: Failure): Error {
  if (isRefusal) return new Refusal(code as RefusalCode, message, retryAfter);
  return Object.assign(new Error(message), { stack, code });
}

export async function captureResult<T>(work: () => T | Promise<T>): Promise<CallResult<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, failure: describeFailure(error) };
  }
}

/** @throws {Error} the failure of the action, restored by `restoreError` */
export function unwrapResult<T>(result: CallResult<T>): T {
  if (result.ok) return result.value;
  throw restoreError(result.failure);
}

export interface Call {
  readonly id: number;
  readonly name: string;
  readonly task: unknown;
  /** Time of the call, as returned by `threadTime`. */
  readonly at: number;
}

export interface CallResponse {
  readonly id: number;
  readonly result: CallResult;
}

/** Indexes of the counters in shared memory. They count the calls and the responses that were sent. */
export const signals = { calls: 0, responses: 1 } as const;

export interface CallChannel {
  readonly port: MessagePort;
  /** See `signals`. */
  readonly signal: Int32Array;
  /** Memory of the histogram in which the thread counts the delays of its event loop in seconds. */
  readonly delays: ArrayBufferLike;
}

/**
 * One end of a channel between two threads with running event loops. Each end calls actions of the other end, and
 * responds when a result is ready, in any order.
 */
export class ThreadCalls<Remote extends Actions<keyof Remote>> {
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  readonly #actions: Readonly<Record<string, (task: unknown) => unknown>>;
  readonly #pending = new Map<number, (result: CallResult) => void>();
  #calls = 0;
  #ended: CallResult<never> | undefined;

  /** @param actions the functions that the other end calls. An action named `close` is called last */
  constructor({ port, signal }: Pick<CallChannel, 'port' | 'signal'>, actions: object = {}) {
    this.#port = port;
    this.#signal = signal;
    this.#actions = actions as Readonly<Record<string, (task: unknown) => unknown>>;
    port.on('message', (message: Call | CallResponse) => this.take(message));
  }

  /**
   * Calls an action of the other end. Arguments and results are cloned, except shared memory.
   * @throws {Refusal} @throws {Error} the error of the action, or an error if the other thread has ended
   */
  async call<Name extends keyof Remote & string>(
    name: Name,
    ...[task]: Parameters<Remote[Name]>
  ): Promise<Awaited<ReturnType<Remote[Name]>>> {
    return unwrapResult(await this.request(name, task)) as Awaited<ReturnType<Remote[Name]>>;
  }

  protected request(name: string, task?: unknown): Promise<CallResult> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve) => {
      if (this.#ended !== undefined) return resolve(this.#ended);
      this.#pending.set(id, resolve);
      this.#port.postMessage({ id, name, task, at: threadTime() } satisfies Call);
      Atomics.add(this.#signal, signals.calls, 1);
      Atomics.notify(this.#signal, signals.calls);
    });
  }

  protected take(message: Call | CallResponse): void {
    if ('name' in message) void this.#respond(message);
    else this.settle(message);
  }

  protected settle({ id, result }: CallResponse): void {
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    resolve?.(result);
  }

  /** Rejects all pending and later calls, because no more responses will arrive. */
  protected end(reason: string): void {
    if (this.#ended !== undefined) return;
    const ended = { ok: false, failure: describeFailure(new Error(reason)) } as const;
    this.#ended = ended;
    for (const resolve of this.#pending.values()) resolve(ended);
    this.#pending.clear();
    this.#port.close();
  }

  async #respond({ id, name, task }: Call): Promise<void> {
    const result = await captureResult(() => this.#actions[name]!(task));
    if (this.#ended !== undefined) return;
    this.#port.postMessage({ id, result } satisfies CallResponse);
    if (name === closing) this.end('the thread has ended');
  }
}

/** Returns the data with which a `WorkerThread` started this thread. Console output then goes to the log. */
export function threadStart<Start extends object>(): Start & { readonly channel: CallChannel } {
  logThreadConsole();
  return workerData as Start & { readonly channel: CallChannel };
}

/**
 * Responds to calls in order, one at a time, until it has responded to a call of `close`. The thread sleeps between
 * calls, and no timers or other events are processed in it.
 * @param onWake called when all waiting calls are done; its `observe` records the delay since a `threadTime`
 */
export function serveCalls(
  { port, signal, delays }: CallChannel,
  actions: Actions,
  onWake = (_observe: (at: number) => void) => {},
): void {
  const waited = new Histogram(undefined, delays);
  const observe = (at: number) => waited.observe(Math.max(0, threadTime() - at) / 1000);
  const respond = (message: CallResponse) => {
    port.postMessage(message);
    Atomics.add(signal, signals.responses, 1);
  };
  for (let seen = 0, open = true; open; ) {
    Atomics.wait(signal, signals.calls, seen);
    seen = Atomics.load(signal, signals.calls);
    for (let received = receiveMessageOnPort(port); received !== undefined; ) {
      const { id, name, task, at } = received.message as Call;
      observe(at);
      respond({ id, result: runAction(() => actions[name]!(task as never)) });
      open &&= name !== closing;
      received = receiveMessageOnPort(port);
    }
    if (open) onWake(observe);
  }
  port.close();
}

function runAction(action: () => unknown): CallResult {
  try {
    return { ok: true, value: action() };
  } catch (error) {
    return { ok: false, failure: describeFailure(error) };
  }
}
