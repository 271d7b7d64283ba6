import { ApiError } from '../contract/errors.ts';
import { parseTime } from '../runtime/rfc3339.ts';

/** Parses the time in a field of a body to Unix ms; returns `null` for `null`. @throws {ApiError} `invalid_time` */
export function readTime(field: string, text: string): number;
export function readTime(field: string, text: string | null): number | null;
export function readTime(field: string, text: string | null): number | null {
  if (text === null) return null;
  const time = parseTime(text);
  if (time === undefined) throw new ApiError('invalid_time', timeRule(field));
  return Math.floor(time);
}

export const timeRule = (field: string) => `Cannot take ${field}: must be a time like 2026-01-31T12:00:00Z`;
