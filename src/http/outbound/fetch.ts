import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { type Address, addressesFor, PrivateAddress, type Reach } from './addresses.ts';

export interface FetchRules extends Reach {
  readonly version: string;
  /** Timeout from the name lookup to the end of the response, ms. */
  readonly deadlineMs: number;
  /** Maximum size of a response body, bytes. */
  readonly maxBytes: number;
  /** Certificates that are trusted instead of the system certificates. */
  readonly ca?: string | undefined;
}

type OutboundFailure = 'private_address' | 'timeout' | 'too_large' | 'redirect' | 'unreachable';

/** Failure to get a usable response. The message is human-readable and contains no text of the other service. */
export class OutboundError extends Error {
  readonly code: OutboundFailure;

  constructor(code: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface OutboundInit {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: URLSearchParams | Uint8Array | string | null | undefined;
}

/** A `fetch` that rejects with an `OutboundError`. */
export type OutboundFetch = (url: string | URL, init?: OutboundInit) => Promise<Response>;

/**
 * Returns a `fetch` for URLs that users enter, such as URLs of identity providers. The `fetch` connects to private
 * addresses only if the operator allows this. It follows no redirects, and limits the duration and the response size.
 */
export function outboundFetch(rules: FetchRules): OutboundFetch {
  return async (address, init = {}) => {
    const url = new URL(address);
    if (url.protocol !== 'https:' && !(rules.allowPrivate && url.protocol === 'http:'))
      throw new OutboundError('private_address', `the address must be an https: URL`);
    const deadline = AbortSignal.timeout(rules.deadlineMs);
    try {
      return await unless(deadline, fetchResponse(rules, url, init, deadline));
    } catch (error) {
      throw deadline.aborted ? late(rules) : toOutboundError(error);
    }
  };
}

async function fetchResponse(
  rules: FetchRules,
  url: URL,
  { method = 'GET', headers, body }: OutboundInit,
  signal: AbortSignal,
): Promise<Response> {
  const { version, maxBytes, ca } = rules;
  const chunks: Buffer[] = [];
  let size = 0;
  const response = await exchange(url, {
    method,
    // No compression, because a small body could become a huge one.
    headers: { 'user-agent': `flagmeter/${version}`, ...headers, 'accept-encoding': 'identity' },
    body: body instanceof URLSearchParams ? `${body}` : (body ?? undefined),
    addresses: await addressesFor(url, rules),
    signal,
    ca,
    take: (chunk) => {
      size += chunk.length;
      chunks.push(chunk);
      return size <= maxBytes;
    },
  });
  const { statusCode: status = 0 } = response;
  if (size > maxBytes) throw new OutboundError('too_large', `the response is larger than ${maxBytes} bytes`);
  if (status >= 300 && status < 400)
    throw new OutboundError('redirect', `responded with ${status}: redirects are not followed`);
  if (status < 200 || status > 599 || !response.complete)
    throw new OutboundError('unreachable', 'the response is incomplete');
  const type = response.headers['content-type'];
  const content = status === 204 || status === 205 ? null : Buffer.concat(chunks);
  return new Response(content, { status, headers: pickHeaders(response.headers, type) });
}

function pickHeaders(
  { 'www-authenticate': challenge, 'cache-control': cache }: NodeJS.Dict<string | string[]>,
  type: string | undefined,
): Record<string, string> {
  return {
    ...(type !== undefined && { 'content-type': type }),
    ...(typeof challenge === 'string' && { 'www-authenticate': challenge }),
    ...(typeof cache === 'string' && { 'cache-control': cache }),
  };
}

function late({ deadlineMs }: FetchRules): OutboundError {
  return new OutboundError('timeout', `no response within ${deadlineMs / 1000} seconds`);
}

function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const { message } = error as Error;
  return new OutboundError(error instanceof PrivateAddress ? 'private_address' : 'unreachable', message, {
    cause: error,
  });
}

interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array | string | undefined;
  /** The checked addresses of the URL. */
  readonly addresses: readonly Address[];
  readonly signal: AbortSignal;
  /** Certificates that are trusted instead of the system certificates. */
  readonly ca?: string | undefined;
  /** Takes a chunk of the response body. The connection is closed if it returns false. */
  readonly take: (chunk: Buffer) => boolean;
}

/**
 * Connects to a checked address without following redirects. Resolves once the response was read, or `take` has
 * returned false. `fetch` is not used, because it would look the name up again.
 */
export async function exchange(url: URL, asked: OutboundRequest): Promise<IncomingMessage> {
  const { method, headers, body, addresses, signal, ca, take } = asked;
  const options = { method, headers, lookup: pinned(addresses), signal, agent: false, ca };
  // Loaded on first use, because most services do not need it.
  const { request: begin } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const request = begin(url, options);
    request.on('error', reject);
    request.on('upgrade', (response, socket) => {
      socket.destroy(); // An upgraded request emits no further event until the socket is destroyed.
      resolve(response);
    });
    request.on('response', (response) => {
      response.on('data', (chunk: Buffer) => {
        if (!take(chunk)) request.destroy();
      });
      // The status is known by now, so an error during the body is ignored.
      for (const event of ['end', 'error', 'close']) response.on(event, () => resolve(response));
    });
    request.end(body);
  });
}

function pinned(addresses: readonly Address[]): LookupFunction {
  const [first] = addresses;
  return (_name, { all }, callback) =>
    all ? callback(null, [...addresses]) : callback(null, first!.address, first!.family);
}

/** Awaits work; rejects as soon as the signal aborts. */
export function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('stopped'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
