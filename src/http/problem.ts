import { catalogue, type Refusal } from '../errors.ts';
import type { Reply } from './types.ts';

/** The answer for a refusal: `application/problem+json` (RFC 9457) with our stable `code`. */
export function problem(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): Reply {
  const { status, title } = catalogue[refusal.code];
  const retryAfter =
    refusal.retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(refusal.retryAfter)) };
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...retryAfter, ...headers },
    body: JSON.stringify({ type: 'about:blank', title, status, code: refusal.code, detail: refusal.message }),
  };
}
