import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Whether requests reach the server. With `lose`, they do, and their answers are lost. A number is the status of the answer. */
export type Behaviour = 'forward' | 'lose' | 'refuse' | number;

/** A host in front of a server, which behaves as a test demands. */
export interface UnreliableHost {
  readonly url: string;
  /** Requests since the last change of behaviour. */
  requests: number;
  /** @param http `HOST:PORT` of the server (default: the same as before) */
  behave(behaviour: Behaviour, http?: string): void;
  close(): void;
}

/** Starts one on a free port, which forwards. */
export async function startUnreliableHost(http: string): Promise<UnreliableHost> {
  let behaviour: Behaviour = 'forward';
  let target = http;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const own = behaviour;
    host.requests += 1;
    const body = await bodyOf(request);
    if (typeof own === 'number') return response.writeHead(own).end();
    const reply = own === 'refuse' ? undefined : await forward(target, request, body).catch(() => undefined);
    if (reply === undefined || own === 'lose') return response.destroy();
    return response.writeHead(reply.status).end(await reply.text());
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const host: UnreliableHost = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    behave(next, http = target) {
      behaviour = next;
      target = http;
      host.requests = 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return host;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function forward(http: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Response> {
  const { host: _, connection: __, 'content-length': ___, ...rest } = headers;
  const given = { method: method ?? '', headers: rest as Record<string, string>, body: new Uint8Array(body) };
  return fetch(`http://${http}${url}`, given);
}
