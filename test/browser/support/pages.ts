import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The web server of a third party. Tests write its pages. */
export interface PageServer {
  /** `http://localhost:PORT`, so its origin differs from the origin of a service at 127.0.0.1. */
  readonly origin: string;
  /** Serves a page at a path. */
  put(path: string, page: Page): void;
  close(): void;
}

interface Page {
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts a page server on a free port. */
export async function startPageServer(): Promise<PageServer> {
  const pages = new Map<string, Page>();
  const server = createServer(({ url = '/' }, response) => {
    const page: Page | undefined = url === '/favicon.ico' ? { html: '' } : pages.get(url);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html', ...page?.headers });
    response.end(page?.html ?? '');
  });
  const { port } = await listen(server);
  return {
    origin: `http://localhost:${port}`,
    put: (path, page) => void pages.set(path, page),
    close: () => closeNow(server),
  };
}

/** A request that a `FlakyHost` has received. */
export interface ReceivedRequest {
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
}

/** A metrics host whose responses are set by a test. */
export interface FlakyHost {
  readonly url: string;
  readonly received: readonly ReceivedRequest[];
  /**
   * Sets the statuses of the next responses. Later responses have status 202. Status 0 closes the connection without a
   * response.
   */
  respondWith(...statuses: readonly number[]): void;
  /** Headers of all responses. */
  headers: Readonly<Record<string, string>>;
  close(): void;
}

/** Starts a host that serves a script as `/snippet.js`. */
export async function startFlakyHost(script: string): Promise<FlakyHost> {
  const received: ReceivedRequest[] = [];
  let next: number[] = [];
  const server = createServer(async (request, response) => {
    const { headers: open } = host;
    if (request.method === 'GET') {
      response.writeHead(200, { ...open, 'content-type': 'text/javascript' }).end(script);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = next.shift() ?? 202;
    const { url: path = '', headers } = request;
    received.push({ path, body: Buffer.concat(chunks).toString(), headers, status });
    if (status === 0) response.destroy();
    else response.writeHead(status, open).end();
  });
  const { port } = await listen(server);
  const host: FlakyHost = {
    url: `http://127.0.0.1:${port}`,
    received,
    headers: { 'access-control-allow-origin': '*' },
    respondWith(...statuses) {
      next = [...statuses];
    },
    close: () => closeNow(server),
  };
  return host;
}

type Server = ReturnType<typeof createServer>;

async function listen(server: Server): Promise<AddressInfo> {
  await new Promise<void>((listening) => server.listen(0, listening));
  return server.address() as AddressInfo;
}

function closeNow(server: Server): void {
  server.closeAllConnections();
  server.close();
}
