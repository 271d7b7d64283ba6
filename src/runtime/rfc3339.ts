/**
 * A date and time with an offset from UTC: RFC 3339 §5.6, where `T` and `Z` may be in lower case. The offset may lack its
 * colon, as PHP formats it.
 */
const pattern = /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:z|([+-])(\d\d):?(\d\d))$/i;

/**
 * Parses an RFC 3339 time.
 * @returns Unix ms with the microseconds as a fraction, or `undefined` if it is invalid. A leap second counts as the second
 *   after it.
 */
export function parseTime(text: string): number | undefined {
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as Six;
  const [fraction = '', sign = '+', offsetHour = '00', offsetMinute = '00'] = found.slice(7);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = (sign === '-' ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const ms = Date.UTC(year + cycleYears, month - 1, day, hour, minute, second) - cycleMs;
  return unixMs(ms / 1000 - offset, Number(fraction.slice(0, 9).padEnd(9, '0')));
}

/** A time in the formats of senders: the seconds and the zone are optional. */
const sentPattern = /^(\d{4}-\d\d-\d\dt\d\d:\d\d)(:\d\d(?:\.\d+)?)?(z|[+-]\d\d:?\d\d)?$/i;

/** A time from a sender. */
export interface SentTime {
  /** As returned by `parseTime`. */
  readonly at: number;
  /** Without a zone, UTC is assumed. */
  readonly hasZone: boolean;
}

/** Parses an RFC 3339 time, or an ISO 8601 time without seconds or zone. */
export function parseSentTime(text: string): SentTime | undefined {
  const [, minute, seconds = ':00', zone] = sentPattern.exec(text) ?? [];
  if (minute === undefined) return undefined;
  const at = parseTime(`${minute}${seconds}${zone ?? 'Z'}`);
  return at === undefined ? undefined : { at, hasZone: zone !== undefined };
}

type Six = [number, number, number, number, number, number];

/**
 * Converts whole seconds and nanoseconds to Unix ms. It keeps microseconds, the resolution of a double, so the same time is the
 * same number on every transport. A time finer than a millisecond stays so: if its microseconds are zero and its nanoseconds
 * are not, it becomes one microsecond later.
 */
export function unixMs(seconds: number, nanos: number): number {
  const micros = Math.floor(nanos / 1000);
  const isFine = nanos % 1_000_000 !== 0 && micros % 1000 === 0;
  return seconds * 1000 + (isFine ? micros + 1 : micros) / 1000;
}

/** Whether a time in Unix ms is finer than a millisecond. */
export function isFinerThanMs(time: number): boolean {
  return !Number.isInteger(time);
}

/** `Date.UTC` maps the years 0 to 99 to 1900 to 1999, so dates are computed one Gregorian cycle later. */
const cycleYears = 400;
const cycleMs = 146_097 * 86_400_000;

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year + cycleYears, month, 0)).getUTCDate();
}
