import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createCounts, type Entry, type Post } from '../../../src/ingest/snippet/counts.ts';
import type { Sender } from '../../../src/ingest/snippet/declarations.d.ts';
import { version as ownVersion } from '../package.json';
import type { flagmeter as Declared, ServerOptions } from '../types/server.d.ts';
import { countEvaluations } from './evaluations.ts';

/** Approximate size of a report: the server accepts several times as much. */
const maxBytes = 100_000;
const maxEntries = 10_000;

/** Request timeout. */
const answerMs = 10_000;

/** Sends reports with a Backend key: see server.d.ts. */
export const flagmeter: typeof Declared = (options) => {
  check(options);
  const { environment, instanceName = hostname(), key, seconds } = options;
  const processStartTime = new Date(performance.timeOrigin).toISOString();
  const head = { appKey: key, environment, instanceName, processStartTime };
  const url = options.url.replace(/\/*$/, '');
  const agent = userAgentOf(options);
  const open = (path: string, encode: Encode) => {
    const report: Encode = (entries, time) => ({ ...head, time, ...encode(entries, time) });
    return createCounts(postTo(`${url}${path}`, agent, report), seconds, maxBytes, maxEntries, startTimer);
  };
  const [usage] = open('/api/usage/stats', encodeUsage);
  const [metrics] = open('/api/metrics', encodeMetrics);
  const flush = async () => void (await Promise.all([usage.flush(), metrics.flush()]));
  process.once('beforeExit', flush);
  const sender: Sender = { ...usage, add: metrics.add, set: metrics.set, flush };
  return { ...sender, ...countEvaluations(sender) };
};

/** @throws {TypeError} if an option is missing */
function check({ url, key, environment }: ServerOptions): void {
  if (!/^https?:\/\/[^/]/.test(url)) throw new TypeError('url must be like https://flags.example.com');
  if (!key) throw new TypeError('key must be a Backend key of the application');
  if (!environment) throw new TypeError('environment must be the name of an environment');
}

/** `service/version (flagmeter-openfeature/0.2.0)`, without characters that a header or a product must not have. */
function userAgentOf({ service = '', version = '' }: ServerOptions): string {
  const own = `flagmeter-openfeature/${ownVersion}`;
  const product = [service, version].map((text) => text.replace(/[^\w.+-]+/g, '-'));
  return service === '' ? own : `${product.filter(Boolean).join('/')} (${own})`;
}

/** A process may end while counts wait: see `beforeExit`. */
function startTimer(act: () => unknown, ms: number): NodeJS.Timeout {
  return setTimeout(act, ms).unref();
}

/** The fields of a report with these entries. */
type Encode = (entries: readonly Entry[], time: string) => object;

/** Identifies a report when it is repeated. */
interface Message {
  readonly key: string;
  readonly time: string;
}

/**
 * Sends reports. One without an answer may have been counted. It is repeated unchanged, with the same `Idempotency-Key`, so that
 * the server counts it once.
 */
function postTo(url: string, agent: string, encode: Encode): Post {
  const messages = new Map<number, Message>();
  let count = 0;
  return async (entries) => {
    const number = entries[0]?.message ?? ++count;
    const message = messages.get(number) ?? { key: randomUUID(), time: new Date().toISOString() };
    messages.set(number, message);
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': message.key,
      'user-agent': agent,
    };
    const answer = await send(url, headers, JSON.stringify(encode(entries, message.time)));
    const isLater = answer === undefined || answer.status === 429 || answer.status > 499;
    for (const entry of entries) entry.message = isLater ? number : undefined;
    if (!isLater) messages.delete(number);
    return answer;
  };
}

async function send(url: string, headers: Readonly<Record<string, string>>, body: string) {
  try {
    const signal = AbortSignal.timeout(answerMs);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    // Otherwise the connection is not used again.
    await response.arrayBuffer();
    return { status: response.status, url };
  } catch {
    return undefined;
  }
}

function encodeUsage(entries: readonly Entry[]) {
  const features = new Map<string, Record<string, object>>();
  for (const { name, variant = '', values } of entries) {
    const variants: Record<string, object> = features.get(name) ?? Object.create(null);
    const [checkCount, usedCount, viewedCount] = values;
    variants[variant] = { checkCount, usedCount, viewedCount };
    features.set(name, variants);
  }
  return { stats: [...features].map(([feature, variantStats]) => ({ feature, variantStats })) };
}

function encodeMetrics(entries: readonly Entry[], time: string) {
  const counters = [];
  const observations = [];
  for (const { name: metric, values, isSum } of entries) {
    const [value] = values;
    if (isSum) counters.push({ metric, value });
    else observations.push({ metric, value, time });
  }
  return { counters, observations };
}
