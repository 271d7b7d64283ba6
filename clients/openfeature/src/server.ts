import { hostname } from 'node:os';
import { createCounts } from '../../../src/ingest/snippet/counts.ts';
import type { Sender } from '../../../src/ingest/snippet/declarations.d.ts';
import { version as ownVersion } from '../package.json';
import type { flagmeter as Declared, ServerOptions } from '../types/server.d.ts';
import { countEvaluations } from './evaluations.ts';
import { encodeMetrics, encodeUsage, Reports } from './reports.ts';
import { WaitingUsers } from './users.ts';

/** Approximate size of a report. The server accepts several times this size. */
const maxBytes = 100_000;
const maxEntries = 10_000;

/** The senders of this process. They are flushed when nothing else keeps the process running. */
const senders: Sender[] = [];

/** Sends reports with a Backend key: see server.d.ts. */
export const flagmeter: typeof Declared = (options) => {
  check(options);
  const { environment, instanceName = hostname(), key, seconds, countUsers = true } = options;
  const processStartTime = new Date(performance.timeOrigin).toISOString();
  const head = { appKey: key, environment, instanceName, processStartTime };
  const url = options.url.replace(/\/*$/, '');
  const userAgent = formatUserAgent(options);
  const open = ({ post, startTimer }: Reports) => createCounts(post, seconds, maxBytes, maxEntries, startTimer)[0];
  const users = new WaitingUsers();
  const usage = open(new Reports({ url: `${url}/api/usage/stats`, userAgent, head }, encodeUsage, users));
  const metrics = open(new Reports({ url: `${url}/api/metrics`, userAgent, head }, encodeMetrics));
  const flush = async () => void (await Promise.all([usage.flush(), metrics.flush()]));
  const sender: Sender = { ...usage, add: metrics.add, set: metrics.set, flush };
  if (senders.push(sender) === 1) process.once('beforeExit', flushAll);
  const evaluations = countEvaluations(sender, (flag, targetingKey) => {
    if (countUsers) users.add(flag, targetingKey);
  });
  return { ...sender, ...evaluations };
};

function flushAll(): void {
  for (const { flush } of senders) void flush();
}

/** @throws {TypeError} if an option is missing */
function check({ url, key, environment }: ServerOptions): void {
  if (!/^https?:\/\/[^/]/.test(url)) throw new TypeError('url must be like https://flags.example.com');
  if (!key) throw new TypeError('key must be a Backend key of the application');
  if (!environment) throw new TypeError('environment must be the name of an environment');
}

/**
 * Returns `service/version (flagmeter-openfeature/0.2.0)`. Replaces characters that a User-Agent does not allow.
 */
function formatUserAgent({ service = '', version = '' }: ServerOptions): string {
  const own = `flagmeter-openfeature/${ownVersion}`;
  const product = [service, version].map((text) => text.replace(/[^\w.+-]+/g, '-'));
  return service === '' ? own : `${product.filter(Boolean).join('/')} (${own})`;
}
