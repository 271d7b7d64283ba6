import type { MessagePort } from 'node:worker_threads';
import { Refusal } from '../../contract/errors.ts';
import type { RefusalCode } from '../../contract/refusals.ts';
import { describeFailure, type Failure, restoreError } from '../../runtime/thread-calls.ts';
import { tooLarge } from '../engines/limits.ts';
import { problem } from '../responses.ts';
import {
  type AddressFinder,
  type ByteBudget,
  DisconnectError,
  type HttpResponse,
  type ListenOptions,
  type Request,
} from '../types.ts';

/**
 * A message of a front-end thread, which forwards requests of the metrics host to the main thread. Messages without
 * bytes have only strings and numbers, because Bun clones such objects several times faster.
 */

type ToMain = ForwardedHead | ({ readonly id: number } & BodyProgress);

/** A new request. Its id is unique within the thread. */
interface ForwardedHead {
  readonly kind: 'request';
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Address of the connection. The main thread evaluates the forwarding headers of proxies. */
  readonly connected: string;
  /** JSON of the header names and values. */
  readonly headers: string;
  /** Body, if the thread has read it already. */
  readonly body?: Uint8Array;
}

type BodyProgress =
  | { readonly kind: 'charge'; readonly bytes: number }
  | { readonly kind: 'body'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** The client has disconnected. */
  | { readonly kind: 'gone' };

type ToThread = { readonly id: number } & (
  | ForwardedResponse
  /** Requests the body. `free` is the value of `ByteBudget.free`. */
  | { readonly kind: 'read'; readonly limit: number; readonly free?: number }
  /** The budget of the body is used up. */
  | { readonly kind: 'refuse'; readonly failure: Failure }
);

/** A complete response. The metrics host sends no chunked responses and no cookies. */
interface ForwardedResponse {
  readonly kind: 'reply';
  readonly status: number;
  /** JSON of the headers. */
  readonly headers?: string;
  readonly body?: string | Uint8Array;
  readonly code?: RefusalCode;
}

/** Copies a view, because cloning it to another thread also clones the whole memory that it views. */
function ownMemory(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? bytes : new Uint8Array(bytes);
}

const stopping = new Refusal('store_unavailable', 'The service is stopping', 5);

interface Exchange {
  readonly request: Request;
  respond(response: HttpResponse): void;
  reading?: Promise<void>;
  refusal?: Error;
}

/** Forwards the requests of a front-end thread to the main thread. */
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

  /** Forwards a request. Resolves with 503 if the main thread has stopped. */
  forward(request: Request, body?: Uint8Array): Promise<HttpResponse> {
    return new Promise((respond) => {
      if (this.#ended) return respond(problem(stopping));
      this.#last += 1;
      const id = this.#last;
      this.#open.set(id, { request, respond });
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
        this.#respond(id, exchange, message);
        break;
      case 'read':
        exchange.reading = this.#read(id, exchange, message);
        break;
      case 'refuse':
        exchange.refusal = restoreError(message.failure);
        break;
    }
  }

  #respond(id: number, exchange: Exchange, { status, headers, body, code }: ForwardedResponse): void {
    this.#open.delete(id);
    const response: HttpResponse = {
      status,
      ...(headers !== undefined && { headers: JSON.parse(headers) }),
      ...(body !== undefined && { body }),
      ...(code !== undefined && { code }),
    };
    // A refusal of the body must reach the HTTP engine before the response, so that the engine closes the connection.
    if (exchange.refusal === undefined || exchange.reading === undefined) exchange.respond(response);
    else void exchange.reading.then(() => exchange.respond(response));
  }

  async #read(id: number, exchange: Exchange, { limit, free }: { limit: number; free?: number }): Promise<void> {
    const budget: ByteBudget | undefined =
      free === undefined
        ? undefined
        : {
            free,
            take: (bytes) => {
              if (exchange.refusal !== undefined) throw exchange.refusal;
              this.#send({ kind: 'charge', id, bytes });
            },
            give: () => {}, // The main thread releases the charge when it receives the body.
          };
    try {
      const body = await exchange.request.body(limit, budget);
      this.#send({ kind: 'body', id, body: ownMemory(body) });
    } catch (error) {
      this.#send(
        error instanceof DisconnectError
          ? { kind: 'gone', id }
          : { kind: 'refused', id, failure: describeFailure(error) },
      );
    }
  }

  #end(): void {
    this.#ended = true;
    for (const { respond } of this.#open.values()) respond(problem(stopping));
    this.#open.clear();
  }
}

type Responder = Pick<ListenOptions, 'dispatch' | 'findAddress'>;

/** Dispatches the requests that a `Forwarder` forwards. A closed port counts as a disconnect of all clients. */
export class Receiver {
  readonly #port: MessagePort;
  readonly #listener: Responder;
  readonly #open = new Map<number, ForwardedRequest>();

  /** @param listener the listener of the main thread whose address the front-end thread shares */
  constructor(port: MessagePort, listener: Responder) {
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
        request.fail(restoreError(message.failure));
        break;
      case 'gone':
        request.fail();
        break;
    }
  }

  #begin(head: ForwardedHead): void {
    const { id } = head;
    const { dispatch, findAddress } = this.#listener;
    const read = (limit: number, free?: number) =>
      this.#send({ kind: 'read', id, limit, ...(free !== undefined && { free }) });
    const refuse = (error: Error) => this.#send({ kind: 'refuse', id, failure: describeFailure(error) });
    const request = new ForwardedRequest(head, { read, refuse }, findAddress);
    this.#open.set(id, request);
    const response = dispatch(request);
    if (response instanceof Promise) void response.then((late) => this.#respond(id, late));
    else this.#respond(id, response);
  }

  #respond(id: number, response: HttpResponse): void {
    if (this.#open.delete(id)) this.#send({ id, ...forwarded(response) });
  }
}

function forwarded({ headers, body, status, code }: HttpResponse): ForwardedResponse {
  return {
    kind: 'reply',
    status,
    ...(headers && { headers: JSON.stringify(headers) }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : ownMemory(body) }),
    ...(code && { code }),
  };
}

interface Sender {
  read(limit: number, free: number | undefined): void;
  refuse(error: Error): void;
}

interface Reading {
  readonly budget: ByteBudget | undefined;
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
  /** Bytes charged for the body. */
  charged: number;
}

/** A request that another thread has accepted. That thread reads the body only when the handler needs it. */
class ForwardedRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #head: ForwardedHead;
  readonly #sender: Sender;
  readonly #findAddress: AddressFinder;
  #headers: ReadonlyMap<string, string> | undefined;
  #reading: Reading | undefined;

  constructor(head: ForwardedHead, sender: Sender, findAddress: AddressFinder = (connected) => connected) {
    this.#head = head;
    this.#sender = sender;
    this.#findAddress = findAddress;
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
  }

  get remoteAddress(): string {
    const { connected } = this.#head;
    return connected === '' ? '' : this.#findAddress(connected, this);
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

  fail(error: Error = new DisconnectError()): void {
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading === undefined) return;
    if (reading.charged > 0) reading.budget?.give(reading.charged);
    reading.reject(error);
  }
}
