import type { Reply } from '../http/types.ts';

/** What belongs to one caller, and may hold a key's text, is kept by no cache. */
const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** 200 with a JSON value. */
export function ok(value: unknown): Reply {
  return okJson(JSON.stringify(value));
}

/** 200 with a value that is JSON already. */
export function okJson(body: string | Uint8Array): Reply {
  return { status: 200, headers, body };
}

/** 201 with a JSON value and where to find the thing; `segments` are path segments below `/api/v2`, not encoded. */
export function created(segments: readonly string[], value: unknown): Reply {
  const location = ['/api/v2', ...segments.map(encodeURIComponent)].join('/');
  return { status: 201, headers: { ...headers, location }, body: JSON.stringify(value) };
}

/** 204: done, and there is nothing to say. */
export const deleted: Reply = { status: 204, headers: { 'cache-control': 'no-store' } };

/** Unix milliseconds as RFC 3339 in UTC; `null` stays. */
export function timeText(at: number): string;
export function timeText(at: number | null): string | null;
export function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
