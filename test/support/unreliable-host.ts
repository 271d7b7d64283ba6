import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestTo, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The host's treatment of a request. With `lose`, the server gets the request, but its response is lost. A number is the
 * status with which the host itself responds.
 */
export type Behaviour = 'forward' | 'lose' | 'refuse' | number;

/** A host in front of a server. A test controls its behaviour. */
export interface UnreliableHost {
  readonly url: string;
  /** `HOST:PORT` of the server behind the host. */
  target: string;
  /** Number of requests to the server since the behaviour was last changed, without preflights. */
  requests: number;
  /** The request headers that were named in preflights. */
  readonly preflights: string[];
  /** Sets the behaviour for each of the next requests. The last behaviour also applies to all later requests. */
  behave(...behaviours: readonly Behaviour[]): void;
  close(): void;
}

/** Handles a request for another service on the same host. @returns true if it has responded */
export type Elsewhere = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Starts a host on a free port. It forwards requests by default. Pages of any origin can read its own responses.
 * @param forwardElsewhere another service on the same host (default: none)
 */
export async function startUnreliableHost(
  target: string,
  forwardElsewhere: Elsewhere = () => false,
): Promise<UnreliableHost> {
  let behaviours: Behaviour[] = ['forward'];
  const server = createServer((request, response) => {
    if (forwardElsewhere(request, response)) return;
    if (request.method === 'OPTIONS') {
      host.preflights.push(request.headers['access-control-request-headers'] ?? '');
      return pass(host.target, request, response);
    }
    host.requests += 1;
    const [now = 'forward', ...later] = behaviours;
    if (later.length > 0) behaviours = later;
    if (now === 'refuse') return void request.socket.destroy();
    if (typeof now === 'string') return pass(host.target, request, response, now === 'lose');
    const headers = { 'access-control-allow-origin': '*', 'retry-after': '1' };
    return void request.resume().on('end', () => response.writeHead(now, headers).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host: UnreliableHost = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    requests: 0,
    preflights: [],
    behave(...next) {
      behaviours = [...next];
      host.requests = 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return host;
}

function pass(target: string, request: IncomingMessage, response: ServerResponse, isLost = false): void {
  const { method, url, headers } = request;
  const disconnect = () => void request.socket.destroy();
  const forwarded = requestTo(`http://${target}${url}`, { method, headers }, (upstream) => {
    if (isLost) upstream.resume().on('end', disconnect);
    else upstream.pipe(response.writeHead(upstream.statusCode ?? 0, upstream.headers));
  });
  forwarded.on('error', disconnect);
  request.pipe(forwarded);
}
