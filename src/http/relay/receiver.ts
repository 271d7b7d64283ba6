import type { MessagePort } from 'node:worker_threads';
import { errorOf, failureOf } from '../../runtime/thread-calls.ts';
import type { ListenOptions, Pieces, Reply } from '../types.ts';
import { ForwardedRequest } from './forwarded-request.ts';
import { type AnsweredHead, type ForwardedHead, ownMemory, type ToMain, type ToThread } from './messages.ts';

interface Exchange {
  readonly request: ForwardedRequest;
  pieces?: Pieces;
}

export type Answering = Pick<ListenOptions, 'dispatch' | 'addressOf'>;

/** Answers the requests that a front-end thread forwards: see `Forwarder`. If the port closes, the clients are gone. */
export class Receiver {
  readonly #port: MessagePort;
  readonly #listeners: readonly Answering[];
  readonly #open = new Map<number, Exchange>();

  /** @param listeners by index, as in `Forwarder.forward` */
  constructor(port: MessagePort, listeners: readonly Answering[]) {
    this.#port = port;
    this.#listeners = listeners;
    port.on('message', (message: ToMain) => this.#take(message));
    port.on('close', () => {
      for (const [id, exchange] of this.#open) {
        this.#stop(id, exchange);
        exchange.request.fail();
      }
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
    const exchange = this.#open.get(message.id);
    if (exchange === undefined) return;
    const { request } = exchange;
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
      case 'next':
        this.#next(message.id, exchange.pieces!);
        break;
      case 'stop':
        this.#stop(message.id, exchange);
        break;
    }
  }

  #begin(head: ForwardedHead): void {
    const { id, listener } = head;
    const { dispatch, addressOf } = this.#listeners[listener]!;
    const read = (limit: number, free?: number) =>
      this.#send({ kind: 'read', id, limit, ...(free !== undefined && { free }) });
    const refuse = (error: Error) => this.#send({ kind: 'refuse', id, failure: failureOf(error) });
    const exchange = { request: new ForwardedRequest(head, { read, refuse }, addressOf) };
    this.#open.set(id, exchange);
    const reply = dispatch(exchange.request);
    if (reply instanceof Promise) void reply.then((late) => this.#answer(id, exchange, late));
    else this.#answer(id, exchange, reply);
  }

  #answer(id: number, exchange: Exchange, reply: Reply): void {
    const { pieces } = reply;
    if (!this.#open.has(id)) {
      pieces?.stop();
      return;
    }
    if (pieces === undefined) this.#open.delete(id);
    else exchange.pieces = pieces;
    this.#send({ id, ...headOf(reply) });
  }

  #next(id: number, pieces: Pieces): void {
    pieces.next().then(
      (piece) => this.#send({ kind: 'piece', id, ...(piece && { piece: sent(piece) }) }),
      () => this.#send({ kind: 'broken', id }),
    );
  }

  #stop(id: number, { pieces }: Exchange): void {
    this.#open.delete(id);
    pieces?.stop();
  }
}

function headOf({ headers, cookies, body, pieces, status, code }: Reply): AnsweredHead {
  return {
    kind: 'reply',
    status,
    isInPieces: pieces !== undefined,
    ...(headers && { headers: JSON.stringify(headers) }),
    ...(cookies && { cookies: JSON.stringify(cookies) }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : ownMemory(body) }),
    ...(code && { code }),
  };
}

/** Shared memory is not cloned: its owner may reuse it once the next chunk is requested, as without a relay. */
function sent(piece: Uint8Array): Uint8Array {
  return piece.buffer instanceof SharedArrayBuffer ? piece : ownMemory(piece);
}
