import { randomUUID } from 'node:crypto';
import type { Started } from './binary.ts';

/** What a service needs for its requests to be counted: its log then has each of them. */
export const countingRequests = ['--log-level', 'debug', '--log-format', 'json'];

/**
 * How many requests of some routes a running service has answered, by its log. `GET /metrics` would give the same text for a
 * second.
 */
export async function requestsOf(
  service: Pick<Started, 'http' | 'stderr'>,
  route: (pattern: string) => boolean,
): Promise<number> {
  const mark = randomUUID();
  await fetch(`http://${service.http}/healthz`, { headers: { 'x-request-id': mark } });
  while (!service.stderr().includes(mark)) await new Promise(setImmediate);
  const routes = service.stderr().matchAll(/"msg":"request".*?"route":"([^"]*)"/g);
  return Array.from(routes).filter(([, pattern = '']) => route(pattern)).length;
}
