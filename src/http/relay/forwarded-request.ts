import { tooLarge } from '../engines/limits.ts';
import { type AddressOf, type ByteBudget, ClientGone, type Request } from '../types.ts';
import type { ForwardedHead } from './messages.ts';

/** Asks the thread that accepted the request. */
export interface Sender {
  read(limit: number, free: number | undefined): void;
  refuse(error: Error): void;
}

interface Reading {
  readonly budget: ByteBudget | undefined;
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
  /** Bytes charged for it. */
  charged: number;
}

/** A request that another thread has accepted. That thread reads its body, once the handler asks for it. */
export class ForwardedRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #head: ForwardedHead;
  readonly #sender: Sender;
  readonly #addressOf: AddressOf;
  #headers: ReadonlyMap<string, string> | undefined;
  #reading: Reading | undefined;

  constructor(head: ForwardedHead, sender: Sender, addressOf: AddressOf = (connected) => connected) {
    this.#head = head;
    this.#sender = sender;
    this.#addressOf = addressOf;
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
  }

  get remoteAddress(): string {
    const { connected } = this.#head;
    return connected === '' ? '' : this.#addressOf(connected, this);
  }

  header(name: string): string | undefined {
    return this.headers().get(name);
  }

  headers(): ReadonlyMap<string, string> {
    this.#headers ??= new Map(JSON.parse(this.#head.headers) as [string, string][]);
    return this.#headers;
  }

  body(limit: number, budget?: ByteBudget): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#reading = { budget, resolve, reject, charged: 0 };
      const { body } = this.#head;
      if (body === undefined) this.#sender.read(limit, budget?.free);
      else if (body.length > limit) this.fail(tooLarge(limit));
      else {
        if (budget !== undefined && body.length > budget.free) this.charge(body.length);
        this.settle(body);
      }
    });
  }

  /** Charges the budget for bytes that have arrived. */
  charge(bytes: number): void {
    if (this.#reading === undefined) return;
    try {
      this.#reading.budget?.take(bytes);
      this.#reading.charged += bytes;
    } catch (error) {
      this.fail(error as Error);
      this.#sender.refuse(error as Error);
    }
  }

  settle(body: Uint8Array): void {
    this.#reading?.resolve(body);
    this.#reading = undefined;
  }

  fail(error: Error = new ClientGone()): void {
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading === undefined) return;
    if (reading.charged > 0) reading.budget?.give(reading.charged);
    reading.reject(error);
  }
}
