/**
 * Matches a date and time of RFC 3339 (§5.6) with an offset from UTC. `T` and `Z` can be lower case. The colon of the
 * offset is optional, because PHP omits it.
 */
const pattern = /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)$/i;

/**
 * Parses an RFC 3339 time.
 * @returns Unix ms with the microseconds as a fraction, or `undefined` for an invalid text. A leap second is parsed as
 * the next second.
 */
export function parseTime(text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const offset = parseOffset(text);
  if (offset === undefined) return undefined;
  const ms = Date.UTC(year + cycleYears, month - 1, day, hour, minute, second) - cycleMs;
  return unixMs(ms / 1000 - offset, parseNanos(text));
}

/** Formats Unix milliseconds as RFC 3339 in UTC; returns `null` for `null`. */
export function timeText(at: number): string;
export function timeText(at: number | null): string | null;
export function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** Parses a substring that has only digits. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) number = 10 * number + text.charCodeAt(at) - 48;
  return number;
}

/** Parses the fraction of a time as nanoseconds. The fraction begins at the 20th character of the text. */
function parseNanos(text: string): number {
  if (text[19] !== '.') return 0;
  let nanos = 0;
  let unit = 100_000_000;
  for (let at = 20; unit >= 1 && isDigit(text.charCodeAt(at)); at += 1, unit /= 10)
    nanos += unit * (text.charCodeAt(at) - 48);
  return nanos;
}

const isDigit = (code: number) => code >= 48 && code <= 57;

/** Parses the offset of a time from UTC to seconds; returns `undefined` for an invalid offset. */
function parseOffset(text: string): number | undefined {
  const { length } = text;
  if (!isDigit(text.charCodeAt(length - 1))) return 0;
  const hasColon = text[length - 3] === ':';
  const from = length - (hasColon ? 6 : 5);
  const hour = digits(text, from + 1, from + 3);
  const minute = digits(text, length - 2, length);
  if (hour > 23 || minute > 59) return undefined;
  return (text[from] === '-' ? -60 : 60) * (hour * 60 + minute);
}

/** Matches a time in the formats of senders, whose seconds and zone are optional. */
const sentPattern = /^(\d{4}-\d\d-\d\dt\d\d:\d\d)(:\d\d(?:\.\d+)?)?(z|[+-]\d\d:?\d\d)?$/i;

export interface SentTime {
  /** The time as returned by `parseTime`. */
  readonly at: number;
  /** False if the text has no zone. UTC is then assumed. */
  readonly hasZone: boolean;
}

/** Parses an RFC 3339 time, or an ISO 8601 time without seconds or zone. */
export function parseSentTime(text: string): SentTime | undefined {
  const whole = parseTime(text);
  if (whole !== undefined) return { at: whole, hasZone: true };
  const [, minute, seconds = ':00', zone] = sentPattern.exec(text) ?? [];
  if (minute === undefined) return undefined;
  const at = parseTime(`${minute}${seconds}${zone ?? 'Z'}`);
  return at === undefined ? undefined : { at, hasZone: zone !== undefined };
}

/**
 * Converts whole seconds and nanoseconds to Unix ms, in whole microseconds, because a double has no higher resolution.
 * A time is therefore the same number on every transport. A time less than a microsecond after a whole millisecond is
 * rounded up, so that the result is not a whole millisecond.
 */
export function unixMs(seconds: number, nanos: number): number {
  const micros = Math.floor(nanos / 1000);
  const isFine = nanos % 1_000_000 !== 0 && micros % 1000 === 0;
  return seconds * 1000 + (isFine ? micros + 1 : micros) / 1000;
}

export function isFinerThanMs(time: number): boolean {
  return !Number.isInteger(time);
}

/** `Date.UTC` shifts the years 0–99 by 1900, so dates are computed one Gregorian cycle later. */
const cycleYears = 400;
const cycleMs = 146_097 * 86_400_000;

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}
