import { ApiError } from '../contract/errors.ts';
import { parseTime } from '../runtime/rfc3339.ts';

/** The time in a field of a body: Unix ms; `null` stays. @throws {ApiError} `invalid_time`, naming the field */
export function readTime(field: string, text: string): number;
export function readTime(field: string, text: string | null): number | null;
export function readTime(field: string, text: string | null): number | null {
  if (text === null) return null;
  const time = parseTime(text);
  if (time === undefined) throw new ApiError('invalid_time', timeRule(field));
  return Math.floor(time);
}

export const timeRule = (field: string) => `Cannot take ${field}: must be a time like 2026-01-31T12:00:00Z`;
