import type { MessagePort } from 'node:worker_threads';
import { errorOf, failureOf } from '../../runtime/thread-calls.ts';
import type { ListenOptions, Reply } from '../types.ts';
import { ForwardedRequest } from './forwarded-request.ts';
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
