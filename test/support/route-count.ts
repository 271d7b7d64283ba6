import { randomUUID } from 'node:crypto';
import type { Started } from './binary.ts';

/** Arguments of a service that logs each request, so that requests can be counted. */
export const countingRequests = ['--log-level', 'debug', '--log-format', 'json'];

/**
 * The number of requests of some routes that a running service has answered, according to its log. `GET /metrics` would give the same text for a
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
