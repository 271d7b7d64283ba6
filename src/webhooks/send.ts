import type { IncomingMessage } from 'node:http';
import { replaceActive } from '../contract/escaping.ts';
import { addressesFor, type Reach } from '../http/outbound/addresses.ts';
import { exchange, unless } from '../http/outbound/fetch.ts';
import type { Webhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { clipped, getFormat } from './formats/formats.ts';
import { signatures } from './secrets.ts';

export interface SendDeps extends Reach {
  readonly version: string;
  /** Timeout of the whole exchange, ms. */
  readonly deadlineMs: number;
  /** Certificates that are trusted instead of the system certificates. */
  readonly ca?: string | undefined;
}

export interface SendResult {
  /** `null` without a response. */
  readonly status: number | null;
  /** The reason of a failure, for people; `null` if the delivery succeeded. */
  readonly error: string | null;
  /** The delay that the receiver requests, ms. */
  readonly retryAfterMs: number;
  /** The beginning of the response body; absent if the body is empty. */
  readonly answer?: string;
}

/** Maximum number of characters of a response that are stored, for people. */
const keptCharacters = 500;

/** Maximum number of response bytes that are read. Some receivers fail if the connection closes while they send. */
const maxResponseBytes = 65_536;

export type Receiver = Pick<Webhook, 'url' | 'secrets' | 'format' | 'authorization'>;

/** Makes one attempt, which ends at the deadline even if the receiver does not respond. Never throws. */
export async function send(
  deps: SendDeps,
  webhook: Receiver,
  delivery: Pick<WebhookDelivery, 'id' | 'body'>,
  now: number,
  stop: AbortSignal,
  traceparent?: string,
): Promise<SendResult> {
  const deadline = AbortSignal.timeout(deps.deadlineMs);
  const signal = AbortSignal.any([deadline, stop]);
  const attempt = async () => {
    const url = new URL(webhook.url);
    const addresses = await addressesFor(url, deps);
    const body = Buffer.from(delivery.body);
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'user-agent': `flagmeter/${deps.version}`,
      ...credentials(webhook, delivery, now),
      ...(traceparent !== undefined && { traceparent }),
    };
    const responseText = new ResponseText();
    const take = (chunk: Buffer) => responseText.take(chunk);
    const { ca } = deps;
    const request = { method: 'POST', headers, body, addresses, signal, ca, take };
    const result = readResult(await exchange(url, request), now);
    const text = responseText.without(webhook.authorization);
    return { ...result, ...(text !== '' && { answer: text }) };
  };
  try {
    return await unless(signal, attempt());
  } catch (error) {
    const seconds = deps.deadlineMs / 1000;
    const why = deadline.aborted ? `no response within ${seconds} seconds` : (error as Error).message;
    return { status: null, error: why.slice(0, 300), retryAfterMs: 0 };
  }
}

/** Headers that authenticate a delivery: the signature of the standard format, or the credential for a tracker. */
function credentials(
  webhook: Receiver,
  { id, body }: Pick<WebhookDelivery, 'id' | 'body'>,
  now: number,
): Readonly<Record<string, string>> {
  const { secrets, authorization } = webhook;
  if (getFormat(webhook) !== 'standard') return authorization === undefined ? {} : { authorization };
  const timestamp = Math.floor(now / 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, { id, timestamp, body }),
  };
}

/** Minimum length of the parts of a credential that are hidden. Shorter parts, such as the scheme, are shown. */
const leastSecret = 8;

class ResponseText {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** Returns `false` when enough bytes were read. */
  take(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    return this.#bytes <= maxResponseBytes;
  }

  /** The beginning of the response, for people. The credential and its parts are hidden if they occur in it. */
  without(credential = ''): string {
    const parts = credential.split(' ').filter(({ length }) => length >= leastSecret);
    const hidden = [credential, ...parts].filter((text) => text !== '');
    const text = Buffer.concat(this.#chunks).toString().trim();
    const safe = replaceActive(
      hidden.reduce((shown, secret) => shown.replaceAll(secret, '…'), text),
      (character) => (character === '\n' ? '\n' : '\ufffd'),
    );
    return clipped(safe, keptCharacters);
  }
}

function readResult({ statusCode: status = 0, headers }: IncomingMessage, now: number): SendResult {
  return { status, error: whyFailed(status), retryAfterMs: waitAsked(headers['retry-after'] ?? '', now) };
}

/** Parses `Retry-After`: a number of seconds, or a date (RFC 9110 §10.2.3). */
function waitAsked(text: string, now: number): number {
  const ms = Number.isNaN(Number(text)) ? Date.parse(text) - now : Number(text) * 1000;
  return ms > 0 && ms < Infinity ? ms : 0;
}

function whyFailed(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `responded with ${status}: redirects are not followed`;
  return `responded with ${status}`;
}
