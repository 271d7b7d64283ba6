import { randomUUID } from 'node:crypto';
import type { Entry, Post, ServerResponse } from '../../../src/ingest/snippet/counts.ts';
import type { UsersByFlag, WaitingUsers } from './users.ts';

/** Request timeout. */
const timeoutMs = 10_000;

/** Maximum pause that a server can request. */
const longestPauseMs = 300_000;

/** The destination of reports, and the content that all reports share. */
export interface Target {
  readonly url: string;
  readonly userAgent: string;
  readonly head: object;
}

/** A report. It is sent again unchanged, with the same `Idempotency-Key`, until a response arrives. */
interface Message {
  readonly key: string;
  readonly body: string;
  readonly users: UsersByFlag;
}

/** Encodes entries and users as the fields of a report. */
type Encode = (entries: readonly Entry[], time: string, users: UsersByFlag) => object;

/**
 * Sends reports. The server can have counted a report even if no response arrived. Such a report is sent again
 * unchanged, with the same `Idempotency-Key`, so that the server counts it once.
 */
export class Reports {
  readonly #target: Target;
  readonly #encode: Encode;
  readonly #waiting: WaitingUsers | undefined;
  readonly #messages = new Map<number, Message>();
  #count = 0;
  /** The time before which the server wants no reports, on the clock of `performance`. */
  #notBefore = 0;

  constructor(target: Target, encode: Encode, waiting?: WaitingUsers) {
    this.#target = target;
    this.#encode = encode;
    this.#waiting = waiting;
  }

  readonly post: Post = async (entries) => {
    const number = entries[0]?.message ?? ++this.#count;
    const message = this.#messages.get(number) ?? this.#compose(entries);
    this.#messages.set(number, message);
    const response = await this.#send(message);
    const isLater = response === undefined || response.status === 429 || response.status > 499;
    for (const entry of entries) entry.message = isLater ? number : undefined;
    if (!isLater) this.#messages.delete(number);
    if (response?.status === 413) this.#waiting?.putBack(message.users);
    return response;
  };

  /** Starts a timer that waits at least until the server accepts reports. It does not keep the process running. */
  readonly startTimer = (act: () => unknown, ms: number): NodeJS.Timeout => {
    const actLater = () => {
      const left = this.#notBefore - performance.now();
      if (left > 0) this.startTimer(act, left);
      else act();
    };
    return setTimeout(actLater, ms).unref();
  };

  #compose(entries: readonly Entry[]): Message {
    const users = this.#waiting?.take(new Set(entries.map(({ name }) => name))) ?? new Map();
    const time = new Date().toISOString();
    const body = JSON.stringify({ ...this.#target.head, time, ...this.#encode(entries, time, users) });
    return { key: randomUUID(), body, users };
  }

  async #send({ key, body }: Message): Promise<ServerResponse | undefined> {
    const { url, userAgent } = this.#target;
    const headers = { 'content-type': 'application/json', 'idempotency-key': key, 'user-agent': userAgent };
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      this.#notBefore = performance.now() + parseRetryAfter(response.headers.get('retry-after'));
      // A connection is used again only if the body of its last response was read.
      await response.arrayBuffer();
      const { status } = response;
      return { status, url: status === 404 ? `${url} (unknown appKey or environment)` : url };
    } catch {
      return undefined;
    }
  }
}

/** Returns the milliseconds of a `Retry-After`: seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const ms = Number(retryAfter) * 1000 || Date.parse(retryAfter) - Date.now() || 0;
  return Math.min(ms, longestPauseMs);
}

export function encodeUsage(entries: readonly Entry[], _: string, users: UsersByFlag): object {
  const features = new Map<string, Record<string, object>>();
  for (const { name, variant = '', values } of entries) {
    const variants: Record<string, object> = features.get(name) ?? Object.create(null);
    const [checkCount, usedCount, viewedCount] = values;
    variants[variant] = { checkCount, usedCount, viewedCount };
    features.set(name, variants);
  }
  const stats = [...features].map(([feature, variantStats]) => {
    const hashes = users.get(feature);
    return { feature, variantStats, ...(hashes && { uniqueUserHashes: [...hashes] }) };
  });
  return { stats };
}

export function encodeMetrics(entries: readonly Entry[], time: string): object {
  const counters = [];
  const observations = [];
  for (const { name: metric, values, isSum } of entries) {
    const [value] = values;
    if (isSum) counters.push({ metric, value });
    else observations.push({ metric, value, time });
  }
  return { counters, observations };
}
