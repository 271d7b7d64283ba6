import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../failure.ts';

/** A listener on this machine that the token host redirects the browser to (RFC 8252 §7.3). */
interface Callback {
  readonly redirectUri: string;
  /** The request of the browser with the right state. @throws {Failure} if it does not arrive in time */
  readonly arrived: Promise<Arrival>;
  close(): void;
}

/** A browser that was redirected here and waits for a page. */
export interface Arrival {
  readonly parameters: URLSearchParams;
  /** Shows the outcome in the browser. */
  show(text: string): void;
}

const path = '/callback';

/**
 * Waits for the browser on a free port. Requests with another state are refused, and the wait continues.
 * @param timeoutMs time limit
 */
export async function openCallback(state: string, timeoutMs: number): Promise<Callback> {
  const server = createServer();
  const arrived = new Promise<Arrival>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Failure('unauthorized', 'The sign-in was not completed in time; start again'));
    }, timeoutMs);
    server.on('close', () => clearTimeout(timer));
    server.on('request', (request, response) => {
      const [target, query = ''] = (request.url ?? '').split('?', 2);
      const parameters = new URLSearchParams(query);
      if (request.method !== 'GET' || target !== path) {
        answer(response, 404, 'Not found.');
      } else if (!isSame(parameters.get('state') ?? '', state)) {
        answer(response, 400, 'This is not the sign-in that the command line is waiting for.');
      } else {
        resolve({ parameters, show: (text) => answer(response, 200, text) });
      }
    });
  });
  // The rejection may have no listener yet; that is expected.
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
