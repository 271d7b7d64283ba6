import type { MessagePort } from 'node:worker_threads';
import { ApiError } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import { CommitFailed } from '../storage/commit/committer.ts';

/** What the other side may ask for, by name. */
export type PortActions = Readonly<Record<string, (task: never) => unknown>>;

type Message =
  | { readonly call: number; readonly name: string; readonly task: unknown }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly failure: Failure };

/** An error between threads, where it would lose what it is. `code` is LMDB's or the operating system's error number. */
export interface Failure {
  readonly message: string;
  readonly api: RefusalCode | undefined;
  readonly retryAfter: number | undefined;
  readonly code: unknown;
}

/** Two threads that call each other over a port. Both have an event loop that runs, and answer when they are ready. */
export class PortCalls {
  readonly #port: MessagePort;
  readonly #actions: PortActions;
  readonly #pending = new Map<number, { done: (value: unknown) => void; failed: (error: Error) => void }>();
  #calls = 0;
  #ended: string | undefined;

  constructor(port: MessagePort, actions: PortActions) {
    this.#port = port;
    this.#actions = actions;
    port.on('message', (message: Message) => this.#take(message));
  }

  /** @throws {ApiError} @throws {CommitFailed} whatever else the action threw, or the other side has ended */
  call(name: string, task?: unknown): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(new CommitFailed(this.#ended, undefined));
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((done, failed) => {
      this.#pending.set(call, { done, failed });
      this.#port.postMessage({ call, name, task } satisfies Message);
    });
  }

  /** Nothing that was asked for will be answered any more. */
  end(reason: string): void {
    this.#ended = reason;
    for (const { failed } of this.#pending.values()) failed(new CommitFailed(reason, undefined));
    this.#pending.clear();
    this.#port.close();
  }

  #take(message: Message): void {
    if ('call' in message) return void this.#answer(message.call, message.name, message.task);
    const pending = this.#pending.get(message.answer);
    this.#pending.delete(message.answer);
    if ('failure' in message) pending?.failed(errorOf(message.failure));
    else pending?.done(message.value);
  }

  async #answer(answer: number, name: string, task: unknown): Promise<void> {
    let message: Message;
    try {
      message = { answer, value: await this.#actions[name]!(task as never) };
    } catch (error) {
      message = { answer, failure: failureOf(error as Error) };
    }
    if (this.#ended === undefined) this.#port.postMessage(message);
  }
}

/** What crosses to the other thread. */
export function failureOf(error: Error): Failure {
  const api = error instanceof ApiError ? error : undefined;
  const { code } = error as { code?: unknown };
  return { message: error.message, api: api?.code, retryAfter: api?.retryAfter, code };
}

/** The error that it was, as an ApiError if it was one. */
export function errorOf({ message, api, retryAfter, code }: Failure): Error {
  return api === undefined ? new CommitFailed(message, code) : new ApiError(api, message, retryAfter);
}
