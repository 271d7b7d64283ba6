import type { ApiError } from '../contract/errors.ts';
import { refusals } from '../contract/refusals.ts';
import type { Reply } from './types.ts';

/**
 * The reply for a refusal: `application/problem+json` (RFC 9457) with a stable `code`. The reply of a shared refusal is created
 * once.
 */
export function problem(refusal: ApiError, headers: Readonly<Record<string, string>> = {}): Reply {
  const reply = written.get(refusal) ?? write(refusal);
  const { status, body, code } = reply;
  return { status, headers: { ...reply.headers, ...headers }, body: body!, code: code! };
}

const written = new WeakMap<ApiError, Reply>();

function write(refusal: ApiError): Reply {
  const { status, title } = refusals[refusal.code];
  const retryAfter =
    refusal.retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(refusal.retryAfter)) };
  const reply: Reply = {
    status,
    headers: { 'content-type': 'application/problem+json', ...retryAfter },
    body: JSON.stringify({ type: 'about:blank', title, status, code: refusal.code, detail: refusal.message }),
    code: refusal.code,
  };
  written.set(refusal, reply);
  return reply;
}
