import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { RawClient, type RawResponse } from '../http/support/raw-client.ts';
import type { RunningProxy } from './proxy-program.ts';

const pem = (name: string) => readFileSync(new URL(`../http/support/tls/${name}.pem`, import.meta.url));

/** Time limit for a response, ms. */
const patience = 1_000;

/** The header that the proxy trusts if a request has both a length and chunks. */
export type Belief = 'length' | 'chunks';

/**
 * A defective proxy. It accepts malformed lengths and chunks, forwards every byte unchanged, and sends the requests of
 * all clients over one connection. It denies paths below `/swagger/`.
 */
export async function startCarelessProxy(http: string, belief: Belief): Promise<RunningProxy> {
  const upstream = new Upstream(Number(http.split(':')[1]));
  const clients = new Set<Socket>();
  const server = createServer({ cert: pem('cert'), key: pem('key') }, (client) => {
    clients.add(client);
    serve(client, upstream, belief);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const client of clients) client.destroy();
      upstream.close();
      server.close();
    },
  };
}

function serve(client: TLSSocket, upstream: Upstream, belief: Belief): void {
  let received = '';
  let answered = Promise.resolve();
  client.on('error', () => {});
  client.setEncoding('latin1').on('data', (part: string) => {
    received += part;
    for (let end = findEnd(received, belief); end !== undefined; end = findEnd(received, belief)) {
      const request = received.slice(0, end);
      received = received.slice(end);
      answered = answered.then(async () => {
        const isDenied = / \/swagger\//.test(request.split('\r\n')[0]!);
        client.write(isDenied ? denied : await upstream.send(request), 'latin1');
      });
    }
  });
}

const denied = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n';

/** Returns where the first request ends according to this proxy; `undefined` if the request is not complete. */
function findEnd(text: string, belief: Belief): number | undefined {
  const body = text.indexOf('\r\n\r\n') + 4;
  if (body < 4) return undefined;
  const head = text.slice(0, body);
  const length = /content-length\W*(\d+)/i.exec(head)?.[1];
  const hasChunks = /transfer-encoding\W*[^\r]*chunked/i.test(head);
  if (hasChunks && (belief === 'chunks' || length === undefined)) {
    const last = /(?:^|\n)0[^\n]*\r?\n\r?\n/.exec(text.slice(body));
    return last === null ? undefined : body + last.index + last[0].length;
  }
  const end = body + Number(length ?? 0);
  return end <= text.length ? end : undefined;
}

/** Reads the final response. Responses with status 1xx are skipped. */
async function readFinalResponse(client: RawClient, method: string): Promise<RawResponse> {
  const response = await client.read(method);
  return response.status < 200 ? readFinalResponse(client, method) : response;
}

/** The only connection from the proxy to the service. */
class Upstream {
  readonly #port: number;
  #client: RawClient | undefined;
  #lastExchange: Promise<unknown> = Promise.resolve();

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request after the responses to all earlier requests. @returns the next response on the connection */
  send(request: string): Promise<string> {
    const response = this.#lastExchange.then(() => this.#exchange(request));
    this.#lastExchange = response;
    return response;
  }

  close(): void {
    this.#client?.close();
  }

  async #exchange(request: string): Promise<string> {
    const reused = this.#client;
    const response = (reused && (await this.#ask(reused, request))) ?? (await this.#askAnew(request));
    if (response === undefined) return 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n';
    const { status, body } = response;
    return `HTTP/1.1 ${status} x\r\nContent-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`;
  }

  /** Sends a request. Uses a new connection if the existing one was already closed. */
  async #askAnew(request: string): Promise<RawResponse | undefined> {
    this.#client = await RawClient.open(this.#port);
    return this.#ask(this.#client, request);
  }

  /** Sends a request. Drops the connection if the response does not arrive in time, or closes it. */
  async #ask(client: RawClient, request: string): Promise<RawResponse | undefined> {
    client.write(request);
    const read = readFinalResponse(client, request.split(' ')[0]!).catch(() => undefined);
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), patience));
    const response = await Promise.race([read, late]);
    if (response !== undefined && response.headers.get('connection') !== 'close') return response;
    client.close();
    this.#client = undefined;
    return response;
  }
}
