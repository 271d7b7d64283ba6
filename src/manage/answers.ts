import { type Answer, created as createdAt } from '../http/answer.ts';

/** 201 with a thing and where it is. @param segments path segments below `/api/v2`, not encoded */
export function created<Body>(segments: readonly string[], body: Body): Answer<201, Body, 'location'> {
  return createdAt(['/api/v2', ...segments.map(encodeURIComponent)].join('/'), body);
}

/** Unix milliseconds as RFC 3339 in UTC; `null` stays. */
export function timeText(at: number): string;
export function timeText(at: number | null): string | null;
export function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
