import { parseExposition } from './exposition.ts';

/** How many requests of some routes a running service has answered, by its own count. */
export async function requestsOf(http: string, route: (pattern: string) => boolean): Promise<number> {
  const text = await (await fetch(`http://${http}/metrics`)).text();
  const counted = parseExposition(text).samples.filter(
    ({ name, labels }) => name === 'flagmeter_http_requests_total' && route(labels['route'] ?? ''),
  );
  return counted.reduce((sum, { value }) => sum + value, 0);
}
