import { randomUUID } from 'node:crypto';
import type { StartedProcess } from './binary.ts';

/** Arguments of a service that logs each request, so that requests can be counted. */
export const countingRequests = ['--log-level', 'debug', '--log-format', 'json'];

/**
 * Returns the number of requests to some routes, according to the log of a service. The log is used because `GET
 * /metrics` returns the same text for a second.
 */
export async function countRequests(
  service: Pick<StartedProcess, 'http' | 'stderr'>,
  route: (pattern: string) => boolean,
): Promise<number> {
  const requestId = randomUUID();
  await fetch(`http://${service.http}/healthz`, { headers: { 'x-request-id': requestId } });
  while (!service.stderr().includes(requestId)) await new Promise(setImmediate);
  const routes = service.stderr().matchAll(/"msg":"request".*?"route":"([^"]*)"/g);
  return Array.from(routes).filter(([, pattern = '']) => route(pattern)).length;
}
