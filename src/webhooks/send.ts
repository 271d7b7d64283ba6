import type { IncomingMessage } from 'node:http';
import { addressesFor, type Reach } from '../http/outbound/addresses.ts';
import { exchange, unless } from '../http/outbound/exchange.ts';
import type { Webhook, WebhookDelivery } from '../storage/lmdb/webhook-records.ts';
import { signatures } from './secrets.ts';

export interface SendDeps extends Reach {
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
    let left = maxAnswerBytes;
    const take = ({ length }: Buffer) => {
      left -= length;
      return left >= 0;
    };
    const { ca } = deps;
    const request = { method: 'POST', headers, body: message.body, addresses, signal, ca, take };
    return outcomeOf(await exchange(url, request), now);
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
