import type { ConsolePage } from '../contract/webhook-events.ts';

/** Path and query of a page of the console, below its base URL. */
export function consolePath({ path, query = {} }: ConsolePage): string {
  const text = path.map((segment) => `/${encodeURIComponent(segment)}`).join('') || '/';
  const parameters = new URLSearchParams(query).toString();
  return parameters === '' ? text : `${text}?${parameters}`;
}
