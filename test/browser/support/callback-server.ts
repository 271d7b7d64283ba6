import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on the user's machine that receives the response to a sign-in, as the command line does. */
export interface CallbackServer {
  /** `http://127.0.0.1:PORT/callback`. */
  readonly redirectUri: string;
  /** The parameters of the responses so far. */
  readonly responses: readonly Readonly<Record<string, string>>[];
  close(): void;
}

/** Starts a server on a free port. Paths other than `/callback` return `html`. */
export async function startCallbackServer(html = ''): Promise<CallbackServer> {
  const responses: Record<string, string>[] = [];
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
    const isCallback = pathname === '/callback';
    if (isCallback) responses.push(Object.fromEntries(searchParams));
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(isCallback ? '<h1>You can close this page</h1>' : html);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { redirectUri: `http://127.0.0.1:${port}/callback`, responses, close: () => void server.close() };
}
