import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Webhook, WebhookDelivery } from '../storage/lmdb/webhook-records.ts';
import { type Address, addressesFor, type Resolve } from './addresses.ts';
import { signatures } from './secrets.ts';

export interface SendDeps {
  readonly resolve: Resolve;
  readonly allowPrivate: boolean;
  /** The version of the program. */
  readonly version: string;
  /** Timeout of the whole exchange, ms. */
  readonly deadlineMs: number;
  /** Certificates that are trusted instead of the system's. */
  readonly ca?: string | undefined;
}

/** The outcome of an attempt. */
export interface Outcome {
  /** `null` if there was no answer. */
  readonly status: number | null;
  /** For people; `null` if it was delivered. */
  readonly error: string | null;
  /** The delay that the receiver requests, ms. */
  readonly retryAfterMs: number;
}

/** How many bytes of an answer are read and discarded: some receivers stop work when the connection closes early. */
const maxAnswerBytes = 65_536;

/** Makes one attempt. It is bounded in time whatever the receiver does, and never throws. */
export async function send(
  deps: SendDeps,
  webhook: Pick<Webhook, 'url' | 'secrets'>,
  delivery: Pick<WebhookDelivery, 'id' | 'body'>,
  now: number,
  stop: AbortSignal,
  traceparent?: string,
): Promise<Outcome> {
  const deadline = AbortSignal.timeout(deps.deadlineMs);
  const signal = AbortSignal.any([deadline, stop]);
  const attempt = async () => {
    const url = new URL(webhook.url);
    const addresses = await addressesFor(url, deps);
    const message = signed(deps, webhook, delivery, now);
    const headers = { ...message.headers, ...(traceparent !== undefined && { traceparent }) };
    return outcomeOf(await post(deps, url, addresses, { ...message, headers }, signal), now);
  };
  try {
    return await unless(signal, attempt());
  } catch (error) {
    const seconds = deps.deadlineMs / 1000;
    const why = deadline.aborted ? `no answer within ${seconds} seconds` : (error as Error).message;
    return { status: null, error: why.slice(0, 300), retryAfterMs: 0 };
  }
}

interface Signed {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string | number>>;
}

function signed(
  { version }: SendDeps,
  { secrets }: Pick<Webhook, 'secrets'>,
  { id, body }: Pick<WebhookDelivery, 'id' | 'body'>,
  now: number,
): Signed {
  const timestamp = Math.floor(now / 1000);
  const bytes = Buffer.from(body);
  const headers = {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'user-agent': `flagmeter/${version}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, { id, timestamp, body }),
  };
  return { body: bytes, headers };
}

/** Connects to a checked address, without following redirects. Resolves once the answer, or enough of it, has been read. */
async function post(
  { ca }: SendDeps,
  url: URL,
  addresses: readonly Address[],
  { body, headers }: Signed,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const lookup = pinned(addresses);
  const options = { method: 'POST', headers, lookup, signal, agent: false, ca };
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
      let left = maxAnswerBytes;
      answer.on('data', (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) request.destroy();
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

function outcomeOf({ statusCode: status = 0, headers }: IncomingMessage, now: number): Outcome {
  return { status, error: whyFailed(status), retryAfterMs: waitAsked(headers['retry-after'] ?? '', now) };
}

/** `Retry-After` is a number of seconds, or a date (RFC 9110 §10.2.3). */
function waitAsked(text: string, now: number): number {
  const ms = Number.isNaN(Number(text)) ? Date.parse(text) - now : Number(text) * 1000;
  return ms > 0 && ms < Infinity ? ms : 0;
}

function whyFailed(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return `answered ${status}`;
}

/** Rejects as soon as the signal aborts. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('stopped'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
