import { Refusal } from '../contract/errors.ts';
import { changesDirection } from '../contract/escaping.ts';
import { isName } from '../contract/names.ts';
import { parseTime } from '../runtime/rfc3339.ts';

/** @throws {Refusal} `invalid_name` if a text cannot be the name of `what` */
export function checkName(what: string, name: string): void {
  if (isName(name) && !changesDirection(name)) return;
  throw new Refusal('invalid_name', nameRule(what));
}

/**
 * Checks a name that packets can also contain. Every name that is valid in packets is valid here.
 * @throws {Refusal} `invalid_name`
 */
export function checkSentName(what: string, name: string): void {
  if (!isName(name)) throw new Refusal('invalid_name', sentNameRule(what));
}

export const nameRule = (what: string) => `${sentNameRule(what)} and characters that change the direction of text`;

export const sentNameRule = (what: string) =>
  `The name of ${what} must be 1–256 UTF-8 bytes without control characters`;

/**
 * Checks a name that is also a path segment. No path can address a resource whose name is a dot segment (RFC 3986
 * §5.2.4), so it could never be deleted.
 * @throws {Refusal} `invalid_name`
 */
export function checkPathName(what: string, name: string): void {
  checkSentName(what, name);
  if (name === '.' || name === '..') {
    throw new Refusal('invalid_name', `The name of ${what} must not be "${name}", which cannot be in a URL`);
  }
}

/** @throws {Refusal} `plan_limit` if there would be more than `limit` of `what` */
export function checkLimit(what: string, count: number, limit: number): void {
  if (count > limit) throw new Refusal('plan_limit', tooMany(what, limit));
}

export const tooMany = (what: string, limit: number) => `Cannot have more than ${limit} ${what}`;

/** @throws {Refusal} `not_found` */
export function mustExist<T>(what: string, thing: T | undefined): T {
  if (thing === undefined) throw new Refusal('not_found', missing(what));
  return thing;
}

export const missing = (what: string) => `There is no such ${what}`;

/** Parses the time in a field of a body to Unix ms; returns `null` for `null`. @throws {Refusal} `invalid_time` */
export function readTime(field: string, text: string): number;
export function readTime(field: string, text: string | null): number | null;
export function readTime(field: string, text: string | null): number | null {
  if (text === null) return null;
  const time = parseTime(text);
  if (time === undefined) throw new Refusal('invalid_time', timeRule(field));
  return Math.floor(time);
}

export const timeRule = (field: string) => `\`${field}\` must be a time like 2026-01-31T12:00:00Z`;
