import type { MessagePort } from 'node:worker_threads';
import { ApiError } from '../../contract/errors.ts';
import { errorOf, failureOf } from '../../runtime/thread-calls.ts';
import { problem } from '../problem.ts';
import { type ByteBudget, ClientGone, type Reply, type Request } from '../types.ts';
import { type ForwardedReply, ownMemory, type ToMain, type ToThread } from './messages.ts';

const stopping = new ApiError('store_unavailable', 'The service is stopping', 5);

interface Exchange {
  readonly request: Request;
  answer(reply: Reply): void;
  /** Settles when the body has been read or refused. */
  reading?: Promise<void>;
  /** The refusal of the rest of the body. */
  refusal?: Error;
}

/** Forwards the requests of a front-end thread to the main thread: see `Receiver`. */
export class Forwarder {
  readonly #port: MessagePort;
  readonly #open = new Map<number, Exchange>();
  #last = 0;
  #ended = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: ToThread) => this.#take(message));
    port.on('close', () => this.#end());
  }

  /**
   * Resolves with the reply of the main thread, or with 503 if that has stopped.
   * @param request its `remoteAddress` is that of the connection
   * @param body the body, if it has been read
   */
  forward(request: Request, body?: Uint8Array): Promise<Reply> {
    return new Promise((answer) => {
      if (this.#ended) return answer(problem(stopping));
      this.#last += 1;
      const id = this.#last;
      this.#open.set(id, { request, answer });
      const { method, path, query, remoteAddress: connected } = request;
      const headers = JSON.stringify([...request.headers()]);
      const head = { kind: 'request', id, method, path, query, connected, headers } as const;
      this.#send(body === undefined ? head : { ...head, body: ownMemory(body) });
    });
  }

  #send(message: ToMain): void {
    this.#port.postMessage(message);
  }

  #take(message: ToThread): void {
    const { id } = message;
    const exchange = this.#open.get(id);
    if (exchange === undefined) return;
    switch (message.kind) {
      case 'reply':
        this.#answer(id, exchange, message);
        break;
      case 'read':
        exchange.reading = this.#read(id, exchange, message);
        break;
      case 'refuse':
        exchange.refusal = errorOf(message.failure);
        break;
    }
  }

  #answer(id: number, exchange: Exchange, { status, headers, body, code }: ForwardedReply): void {
    this.#open.delete(id);
    const reply: Reply = {
      status,
      ...(headers !== undefined && { headers: JSON.parse(headers) }),
      ...(body !== undefined && { body }),
      ...(code !== undefined && { code }),
    };
    // The HTTP engine closes the connection if it has refused the body before the reply.
    if (exchange.refusal === undefined || exchange.reading === undefined) exchange.answer(reply);
    else void exchange.reading.then(() => exchange.answer(reply));
  }

  async #read(
    id: number,
    exchange: Exchange,
    { limit, free }: { limit: number; free?: number },
  ): Promise<void> {
    const budget: ByteBudget | undefined =
      free === undefined
        ? undefined
        : {
            free,
            take: (bytes) => {
              if (exchange.refusal !== undefined) throw exchange.refusal;
              this.#send({ kind: 'charge', id, bytes });
            },
            give: () => {}, // The main thread does when it receives the outcome.
          };
    try {
      const body = await exchange.request.body(limit, budget);
      this.#send({ kind: 'body', id, body: ownMemory(body) });
    } catch (error) {
      this.#send(
        error instanceof ClientGone
          ? { kind: 'gone', id }
          : { kind: 'refused', id, failure: failureOf(error) },
      );
    }
  }

  #end(): void {
    this.#ended = true;
    for (const { answer } of this.#open.values()) answer(problem(stopping));
    this.#open.clear();
  }
}
