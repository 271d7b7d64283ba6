import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestTo, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Handling of a request by the host. `lose`: the server gets the request, but its response is lost. A number: the host
 * itself responds with this status.
 */
export type Behaviour = 'forward' | 'lose' | 'refuse' | number;

/** A host in front of a server, which behaves as a test demands. */
export interface UnreliableHost {
  readonly url: string;
  /** `HOST:PORT` of the server. */
  target: string;
  /** Requests to the server since the last change of behaviour, without preflights. */
  requests: number;
  /** The request headers that preflights have named. */
  readonly preflights: string[];
  /** Sets the behaviours for the next requests; the last behaviour stays. */
  behave(...behaviours: readonly Behaviour[]): void;
  close(): void;
}

/** Responds to a request instead of the server, if it is for another service. */
export type Elsewhere = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Starts a host on a free port, which forwards. Its own responses are readable by pages of any origin.
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
