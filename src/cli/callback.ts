import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from './failure.ts';

/** A listener on this machine that the token host sends the browser back to (RFC 8252 §7.3). */
export interface Callback {
  readonly redirectUri: string;
  /** What the browser brings, once it brings the right state. @throws {Failure} when nobody came in time */
  readonly arrived: Promise<Arrival>;
  close(): void;
}

/** A browser that came back and waits for a page. */
export interface Arrival {
  readonly parameters: URLSearchParams;
  /** Shows the person how it ended. */
  show(text: string): void;
}

const path = '/callback';

/**
 * Waits for the browser on a free port. Whoever comes with another state is turned away, and the wait goes on.
 * @param patienceMs how long it waits
 */
export async function openCallback(state: string, patienceMs: number): Promise<Callback> {
  const server = createServer();
  const arrived = new Promise<Arrival>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Failure('unauthorized', 'The sign-in was not completed in time; start again'));
    }, patienceMs);
    server.on('close', () => clearTimeout(timer));
    server.on('request', (request, response) => {
      const [target, query = ''] = (request.url ?? '').split('?', 2);
      const parameters = new URLSearchParams(query);
      if (request.method !== 'GET' || target !== path) {
        answer(response, 404, 'There is nothing here.');
      } else if (!isSame(parameters.get('state') ?? '', state)) {
        answer(response, 400, 'This is not the sign-in that the command line waits for.');
      } else {
        resolve({ parameters, show: (text) => answer(response, 200, text) });
      }
    });
  });
  // Whoever waits hears of the failure; until then nobody need.
  arrived.catch(() => {});
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeIdleConnections();
  };
  return { redirectUri: `http://127.0.0.1:${port}${path}`, arrived, close };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>flagmeter</title>
<body style="font: 1.1rem/1.5 system-ui; max-width: 32rem; margin: 20vh auto; padding: 0 1rem">
<h1>flagmeter</h1>
<p>${text}</p>
</html>
`);
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
