import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished } from 'vitest';

/** A received delivery. */
export interface ReceivedDelivery {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The server at the URL of a webhook. */
export interface Receiver {
  readonly port: number;
  readonly received: ReceivedDelivery[];
  /** Resolves when this many deliveries have arrived in total. */
  arrived(count: number): Promise<void>;
}

export type Responder = (response: ServerResponse, received: ReceivedDelivery) => void;

const noContent: Responder = (response) => response.writeHead(204).end();

/**
 * Opens a receiver on loopback, closed when the test ends.
 * @param tls key and certificate; plain HTTP if absent
 */
export async function openReceiver(
  respond: Responder = noContent,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  let look = () => {};
  const listener: RequestListener = async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const one = { path: request.url ?? '', headers: request.headers, body };
    received.push(one);
    look();
    respond(response, one);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    arrived: (count) =>
      new Promise((resolve) => {
        look = () => {
          if (received.length >= count) resolve();
        };
        look();
      }),
  };
}

/**
 * Verifies a delivery with the published package, and returns its content.
 * @throws {Error} if the signature is wrong
 */
export function verified({ body, headers }: ReceivedDelivery, secret: string): { type: string; data: unknown } {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const seconds = Number(texts['webhook-timestamp']);
  // The package uses the machine's time, which can differ from a test's clock.
  const inTime = Math.abs(Date.now() / 1000 - seconds) < 300;
  if (inTime) return new Webhook(secret).verify(body, texts) as { type: string; data: unknown };
  const wanted = new Webhook(secret).sign(texts['webhook-id']!, new Date(seconds * 1000), body);
  expect(texts['webhook-signature']!.split(' ')).toContain(wanted);
  return JSON.parse(body);
}
