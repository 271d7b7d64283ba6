import { compactNumbers, peopleNumbers, shares } from '../../contract/numbers.ts';
import { dayRanges, type Instant, ranges, relativeTimes, timeUnits } from '../../contract/time-formats.ts';

export type { Instant };

const second = 1000;
const dayMs = 86_400_000;

function createNumberFormats(locale: string | undefined) {
  const full = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const small = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
  const points = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, signDisplay: 'exceptZero' });
  const compact = compactNumbers(locale);
  const percent = shares(locale);
  const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
  const quantity = (value: number) => {
    const size = Math.abs(value);
    if (size >= 100_000) return compact(value);
    return (size < 1 ? small : full).format(value);
  };
  return {
    full: (value: number) => full.format(value),
    /** Short number: `4.1M`. */
    compact,
    /** Short number for the label of an axis: `20k`. */
    tick: compactNumbers(locale, false),
    /** A fraction of 1: `40%`, and `4.2%` below a tenth. Only 0 is `0%`, and only 1 is `100%`. */
    percent,
    /** A difference of two fractions of 1, in percentage points: `+4.2`. */
    points: (difference: number) => points.format(difference * 100),
    /** An estimated number of people with its error: `3,380 ± 70`. */
    people: peopleNumbers(locale),
    /** One number as a share of another: `40%`; a dash if the other number is 0. */
    rate: (part: number, whole: number) => (whole === 0 ? '–' : percent(part / whole)),
    /** A measured value and its unit: `42.5 EUR`, `1.2M`; a dash without a value. */
    quantity: (value: number | undefined, unit?: string) =>
      value === undefined ? '–' : [quantity(value), ...(unit === undefined ? [] : [unit])].join(' '),
    /** `Production, Staging and Test`. */
    list: (items: readonly string[]) => lists.format(items),
  };
}

function createTimeFormats(locale: string | undefined, timeZone: string | undefined) {
  const dates = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, timeZone === undefined ? options : { timeZone, ...options });
  const times = dates({ dateStyle: 'medium', timeStyle: 'short' });
  const mediumDates = dates({ dateStyle: 'medium' });
  const longDates = dates({ dateStyle: 'full' });
  const clocks = dates({ timeStyle: 'short' });
  const seconds = dates({ timeStyle: 'medium' });
  const moment = { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' } as const;
  const momentRange = ranges(dates(moment), dates({ ...moment, year: 'numeric' }));
  const moments = (from: Instant, to: Instant, now: Instant = Date.now()) => momentRange(from, to, now);
  const dayRange = dayRanges(locale);
  const day = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  const days = dates(day);
  // Keeps the given name of the zone, because a browser can resolve it to an older name.
  const zone = timeZone ?? dates({}).resolvedOptions().timeZone;
  return {
    /** Date and time in the reader's zone. */
    time: (at: Instant) => times.format(new Date(at)),
    /** The date in the reader's zone: `14 Oct 2026`. */
    date: (at: Instant) => mediumDates.format(new Date(at)),
    /** The date with its weekday: `Tuesday, 14 October 2026`. */
    longDate: (at: Instant) => longDates.format(new Date(at)),
    /** The time of day in the reader's zone. */
    clock: (at: Instant) => clocks.format(new Date(at)),
    clockSeconds: (at: Instant) => seconds.format(new Date(at)),
    /** A span of time: `14 Nov, 09:00 – 15 Nov, 10:00`. Names the year unless it is the current year. */
    span: moments,
    /** A UTC day as `14 Nov`. Takes `YYYY-MM-DD`, or a time in the day. */
    day: (at: Instant) => days.format(new Date(at)),
    /** UTC days from the first to the last: `14 – 20 Nov`, and `14 – 20 Nov 2025` outside of the current year. */
    days: (from: Instant, to: Instant, now: Instant = Date.now()) => dayRange(from, to, now),
    /** UTC days from the first to the last, as a span of time in the reader's zone; `undefined` if the zone is UTC. */
    dayTimes: (from: Instant, to: Instant) =>
      zone === 'UTC' ? undefined : `${moments(from, new Date(to).getTime() + dayMs)} (${zone})`,
    /** The reader's time zone: `Europe/Berlin`. */
    zone,
    /** Place of the time zone: `Berlin`. */
    place: zone.split('/').at(-1)!.replaceAll('_', ' '),
  };
}

function createDurationFormats(locale: string | undefined, date: (at: Instant) => string) {
  const relative = relativeTimes(locale);
  const unit = (name: string, count: number) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: name === 'day' ? 'long' : 'short' }).format(
      count,
    );
  return {
    /** Relative time up to two weeks: `3 minutes ago`, `now`. Otherwise, the date. */
    relative: (at: Instant, now: number) => relative(new Date(at).getTime(), now) ?? date(at),
    /** A duration in its two largest units: `2 hr 5 min`. */
    duration(ms: number): string {
      const whole = Math.max(0, Math.round(ms / second)) * second;
      const parts = timeUnits.map(([name, length], index) => {
        const above = timeUnits[index - 1]?.[1] ?? Number.POSITIVE_INFINITY;
        return { name, count: Math.floor((whole % above) / length) };
      });
      const first = parts.findIndex(({ count }) => count > 0);
      if (first < 0) return unit('second', 0);
      const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0);
      return shown.map(({ name, count }) => unit(name, count)).join(' ');
    },
  };
}

export function createFormats(locale?: string, timeZone?: string) {
  const times = createTimeFormats(locale, timeZone);
  return { ...createNumberFormats(locale), ...times, ...createDurationFormats(locale, times.date) };
}

/** Formats in the browser's locale, and in the reader's time zone. */
export let format = createFormats();

export const browserZone = format.zone;

/** Changes the time zone. The caller must render the page again. */
export function formatIn(timeZone: string): void {
  if (format.zone !== timeZone) format = createFormats(undefined, timeZone);
}

/** Duration of the periods in which senders are recorded, ms. */
export const periodMs = 600_000;

/** Formats the time since the end of a period. A period that has not ended counts as now. @param start Unix ms */
export function seenText(start: number, now: number): string {
  const end = start + periodMs;
  return now < end ? 'in the last 10 minutes' : format.relative(end, now);
}

/** Formats a number with its noun: `plural(1, 'flag')` is `1 flag`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${format.full(count)} ${count === 1 ? one : many}`;
}
