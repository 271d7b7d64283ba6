import type { MessagePort } from 'node:worker_threads';
import { errorOf, failureOf } from '../../runtime/thread-calls.ts';
import { tooLarge } from '../engines/limits.ts';
import {
  type AddressOf,
  type ByteBudget,
  ClientGone,
  type ListenOptions,
  type Reply,
  type Request,
} from '../types.ts';
import {
  type ForwardedHead,
  type ForwardedReply,
  ownMemory,
  type ToMain,
  type ToThread,
} from './messages.ts';

export type Answering = Pick<ListenOptions, 'dispatch' | 'addressOf'>;

/** Answers the requests that a front-end thread forwards: see `Forwarder`. If the port closes, the clients are gone. */
export class Receiver {
  readonly #port: MessagePort;
  readonly #listener: Answering;
  readonly #open = new Map<number, ForwardedRequest>();

  /** @param listener the listener of the main thread whose address the front-end thread shares */
  constructor(port: MessagePort, listener: Answering) {
    this.#port = port;
    this.#listener = listener;
    port.on('message', (message: ToMain) => this.#take(message));
    port.on('close', () => {
      for (const request of this.#open.values()) request.fail();
      this.#open.clear();
    });
  }

  #send(message: ToThread): void {
    this.#port.postMessage(message);
  }

  #take(message: ToMain): void {
    if (message.kind === 'request') {
      this.#begin(message);
      return;
    }
    const request = this.#open.get(message.id);
    if (request === undefined) return;
    switch (message.kind) {
      case 'charge':
        request.charge(message.bytes);
        break;
      case 'body':
        request.settle(message.body);
        break;
      case 'refused':
        request.fail(errorOf(message.failure));
        break;
      case 'gone':
        request.fail();
        break;
    }
  }

  #begin(head: ForwardedHead): void {
    const { id } = head;
    const { dispatch, addressOf } = this.#listener;
    const read = (limit: number, free?: number) =>
      this.#send({ kind: 'read', id, limit, ...(free !== undefined && { free }) });
    const refuse = (error: Error) => this.#send({ kind: 'refuse', id, failure: failureOf(error) });
    const request = new ForwardedRequest(head, { read, refuse }, addressOf);
    this.#open.set(id, request);
    const reply = dispatch(request);
    if (reply instanceof Promise) void reply.then((late) => this.#answer(id, late));
    else this.#answer(id, reply);
  }

  #answer(id: number, reply: Reply): void {
    if (this.#open.delete(id)) this.#send({ id, ...forwarded(reply) });
  }
}

function forwarded({ headers, body, status, code }: Reply): ForwardedReply {
  return {
    kind: 'reply',
    status,
    ...(headers && { headers: JSON.stringify(headers) }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : ownMemory(body) }),
    ...(code && { code }),
  };
}

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
class ForwardedRequest implements Request {
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
