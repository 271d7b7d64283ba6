import type { Journal } from '../journal.ts';

/** Error codes that a fault explains, in responses with status 503 or 504. */
const explained = new Set([
  'backpressure',
  'store_unavailable',
  'postgres_unavailable',
  'temporarily_unavailable',
  'spool_full',
]);

const counts = /^(packet|report|grpc report):/;

/** Checks that a fault explains every response, and that counting continues without PostgreSQL. */
export function checkResponses(journal: Journal, known: Set<string>): void {
  for (const name of journal.counts.keys()) {
    if (known.has(name)) continue;
    known.add(name);
    const [, status = '', code] = /: (\S+)(?: (\S+))?$/.exec(name) ?? [];
    const isInternal = code === 'internal' || status === '500';
    const isStopped = counts.test(name) && code === 'postgres_unavailable';
    const isOdd = Number(status) >= 500 && code !== undefined && !explained.has(code);
    // The key and the environment existed before the round, and all requests are valid, so no other refusal is
    // explained.
    const isForgotten = counts.test(name) && /^[35]$|^4\d\d$/.test(status);
    if (isInternal || isStopped || isOdd || isForgotten) journal.violation(`no fault explains the response "${name}"`);
  }
}
