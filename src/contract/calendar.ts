/*
 * Calendar days in a time zone, for the server and the console. A day is the number of days between 1970-01-01 and its
 * local date. A day on which clocks change has 23 to 25 hours.
 */

const hourMs = 3_600_000;
const dayMs = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();
/** Maximum number of cached formatters. There are about 600 zones, and a formatter takes some kilobytes. */
const maxFormats = 32;

function getFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const numeric = 'numeric';
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  if (formats.size >= maxFormats) formats.delete(formats.keys().next().value!);
  formats.set(zone, made);
  return made;
}

/** Returns the offset of a time zone from UTC at a time, ms. @param at Unix ms */
export function offsetAt(zone: string, at: number): number {
  if (zone === 'UTC') return 0;
  const second = Math.floor(at / 1000) * 1000;
  const parts: Record<string, number> = {};
  for (const { type, value } of getFormat(zone).formatToParts(second)) parts[type] = Number(value);
  const { year, month, day, hour, minute, second: s } = parts as Record<string, number>;
  return Date.UTC(year!, month! - 1, day, hour, minute, s) - second;
}

/** Returns the day of a time in a time zone. @param at Unix ms */
export function dayAt(zone: string, at: number): number {
  return Math.floor((at + offsetAt(zone, at)) / dayMs);
}

/** Returns the start of a day in a time zone, Unix ms. The start is after midnight if the clocks skip midnight. */
export function startOfDay(zone: string, day: number): number {
  const midnight = day * dayMs;
  const offsets = [offsetAt(zone, midnight - dayMs), offsetAt(zone, midnight + dayMs)];
  const candidates = offsets.map((offset) => midnight - offset).filter((at) => dayAt(zone, at) >= day);
  return Math.min(...candidates);
}

/**
 * Returns the UTC days whose users are counted for a range. The end is exclusive. If the range begins at the start of a
 * day in its zone, the UTC days have the same dates. Otherwise, they are all UTC days that the range touches.
 * @param from Unix ms
 * @param to Unix ms
 */
export function userDays(from: number, to: number, zone = 'UTC'): { readonly from: number; readonly to: number } {
  const first = dayAt(zone, from);
  const counted = startOfDay(zone, first) === from ? zone : 'UTC';
  return { from: dayAt(counted, from), to: dayAt(counted, to - 1) + 1 };
}

/**
 * Returns the starts of the days between two times, in Unix ms. The first day contains `from`. Days that the clocks
 * skip are omitted.
 */
export function daysBetween(zone: string, from: number, to: number): number[] {
  const starts: number[] = [];
  for (let day = dayAt(zone, from); ; day += 1) {
    const start = startOfDay(zone, day);
    if (start >= to) return starts;
    if (start !== starts.at(-1)) starts.push(start);
  }
}

/** Maximum length of a range whose days are summed from hours. With many flags, summing 90 days takes seconds. */
export const maxZonedMs = 35 * dayMs;

/**
 * Returns the starts of a chart's days in a time zone. The counts of these days are summed from hours.
 * @param keptFrom start of the retained hours, Unix ms
 * @returns `undefined` if the range has too many hours or hours that are not retained, or if a day does not begin on
 * the hour
 */
export function daysFromHours(zone: string, from: number, to: number, keptFrom: number): readonly number[] | undefined {
  if (zone === 'UTC' || from < keptFrom || to - from > maxZonedMs) return undefined;
  const starts = daysBetween(zone, from, to);
  return starts.every((start) => start % hourMs === 0) ? starts : undefined;
}

/** Returns the Monday of the ISO week that contains a day. 1970-01-01 was a Thursday. */
export function startOfWeek(day: number): number {
  return day - ((((day + 3) % 7) + 7) % 7);
}

/** Returns the first day of the month that contains a day, or of the month that is `months` later. */
export function startOfMonth(day: number, months = 0): number {
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / dayMs;
}

/** Returns the same day of an earlier month, or the last day of that month if it is shorter. */
export function monthsBefore(day: number, months: number): number {
  const first = startOfMonth(day, -months);
  const length = startOfMonth(first, 1) - first;
  return first + Math.min(day - startOfMonth(day), length - 1);
}

/** The calendar ranges, each as its first day and the day after its last. @param today number of the current day */
export const calendarRanges = {
  today: (today: number) => [today, today + 1],
  yesterday: (today: number) => [today - 1, today],
  'this-week': (today: number) => [startOfWeek(today), today + 1],
  'last-week': (today: number) => [startOfWeek(today) - 7, startOfWeek(today)],
  'this-month': (today: number) => [startOfMonth(today), today + 1],
  'last-month': (today: number) => [startOfMonth(today, -1), startOfMonth(today)],
} as const satisfies Record<string, (today: number) => readonly [first: number, end: number]>;

export type CalendarRange = keyof typeof calendarRanges;

/** Maximum length of a time zone name. The names of IANA are shorter. */
export const maxZoneName = 64;

/**
 * True if a text names a time zone of the IANA database, such as `Europe/Berlin` or `UTC`, not an offset such as
 * `+01:00`.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name) || name.length > maxZoneName) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Message for an unknown time zone. @param name at most 100 characters */
export const unknownZone = (name: string) =>
  `${JSON.stringify(name)} is not a time zone of the IANA database, such as Europe/Berlin`;
