import { afterAll, beforeAll, expect } from 'vitest';
import { RawClient, type RawResponse } from './raw-client.ts';
import { get } from './requests.ts';
import type { RunningServer, StartServer } from './servers.ts';

/** A running HTTP engine, and functions to send requests to it. */
export interface Target {
  readonly start: StartServer;
  readonly server: () => RunningServer;
  /** Opens a connection, which is closed after the suite. */
  readonly open: (port?: number) => Promise<RawClient>;
  /** Sends one request on a new connection and returns the response. */
  readonly ask: (request: string | Uint8Array, method?: string) => Promise<RawResponse>;
}

/** Starts the HTTP engine before the tests of the suite and stops it after them. */
export function openTarget(start: StartServer): Target {
  let server: RunningServer;
  const clients: RawClient[] = [];
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await server.stop();
  });

  async function open(port = server.port): Promise<RawClient> {
    const client = await RawClient.open(port);
    clients.push(client);
    return client;
  }

  async function ask(request: string | Uint8Array, method = 'GET'): Promise<RawResponse> {
    const client = await open();
    client.write(request);
    return client.read(method);
  }
  return { start, server: () => server, open, ask };
}

export function json(response: RawResponse) {
  return JSON.parse(response.body.toString());
}

/**
 * Waits until the server has dispatched a request.
 * @param request in the form `PATH?QUERY`
 * @param client the connection on which to poll the server
 */
export async function arrival(request: string, client: RawClient): Promise<void> {
  for (;;) {
    client.write(get('/received'));
    if (json(await client.read()).includes(request)) return;
  }
}

/** Reads the refusal of a body that is too large. */
export async function readRefusal(client: RawClient): Promise<RawResponse> {
  const response = await client.read();
  expect(response.status).toBe(413);
  expect(json(response).code).toBe('body_too_large');
  expect(response.headers.get('connection')).toBe('close');
  return response;
}
