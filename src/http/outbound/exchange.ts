import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Address } from './addresses.ts';

/** A request of the service to another one. */
interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array | string | undefined;
  /** The checked addresses of the URL. */
  readonly addresses: readonly Address[];
  readonly signal: AbortSignal;
  /** Certificates that are trusted instead of the system's. */
  readonly ca?: string | undefined;
  /** Takes a part of the answer's body. The connection is closed if it returns false. */
  readonly take: (chunk: Buffer) => boolean;
}

/**
 * Connects to a checked address, without following redirects. Resolves once the answer, or enough of it, has been read. `fetch` cannot
 * be given the address to connect to, and would look the name up again.
 */
export async function exchange(url: URL, asked: OutboundRequest): Promise<IncomingMessage> {
  const { method, headers, body, addresses, signal, ca, take } = asked;
  const options = { method, headers, lookup: pinned(addresses), signal, agent: false, ca };
  // Loaded on first use: most services start without it.
  const { request: begin } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const request = begin(url, options);
    request.on('error', reject);
    request.on('upgrade', (answer, socket) => {
      socket.destroy(); // The protocol was upgraded. Without this, no event would follow.
      resolve(answer);
    });
    request.on('response', (answer) => {
      answer.on('data', (chunk: Buffer) => {
        if (!take(chunk)) request.destroy();
      });
      // The status is known, so later failures are ignored.
      for (const event of ['end', 'error', 'close']) answer.on(event, () => resolve(answer));
    });
    request.end(body);
  });
}

/** Answers a look-up with the checked addresses. */
function pinned(addresses: readonly Address[]): LookupFunction {
  const [first] = addresses;
  return (_name, { all }, answer) =>
    all ? answer(null, [...addresses]) : answer(null, first!.address, first!.family);
}

/** Rejects as soon as the signal aborts. */
export function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('stopped'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
