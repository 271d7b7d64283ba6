import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A network fault of a request. With `lose the answer`, the service gets the request, but the sender gets no response.
 */
export type Fault = 'reset' | 503 | 429 | 404 | 'lose the answer';

export interface GatewayOptions {
  readonly chooseFault?: (request: IncomingMessage) => Fault | undefined;
  /** The gateway's own response as JSON to a request that is not for the service. */
  readonly respondTo?: (request: IncomingMessage) => object | undefined;
}

/** Passes requests to a service, except those with a fault. */
export class Gateway {
  /** `HOST:PORT` of the service. */
  target: string;
  readonly #server = createServer((incoming, outgoing) => this.#handle(incoming, outgoing));
  readonly #options: GatewayOptions;
  #port = 0;

  private constructor(target: string, options: GatewayOptions) {
    this.target = target;
    this.#options = options;
  }

  static async open(target: string, options: GatewayOptions = {}): Promise<Gateway> {
    const gateway = new Gateway(target, options);
    await gateway.open();
    onTestFinished(() => gateway.close());
    return gateway;
  }

  /** `HOST:PORT`, which stays the same when the gateway is closed and opened again. */
  get http(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections from now on. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const own = this.#options.respondTo?.(incoming);
    if (own !== undefined) {
      outgoing.end(JSON.stringify(own));
      return;
    }
    const fault = this.#options.chooseFault?.(incoming);
    if (fault === 'reset') incoming.socket.destroy();
    else if (typeof fault === 'number') incoming.resume().on('end', () => outgoing.writeHead(fault).end());
    else this.#pass(incoming, outgoing, fault === 'lose the answer');
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse, loses: boolean): void {
    const { method, url, headers } = incoming;
    const forwarded = request(`http://${this.target}${url}`, { method, headers }, (answer) => {
      if (loses) answer.resume().on('end', () => incoming.socket.destroy());
      else answer.pipe(outgoing.writeHead(answer.statusCode!, answer.headers));
    });
    forwarded.on('error', () => incoming.socket.destroy());
    incoming.pipe(forwarded);
  }
}
