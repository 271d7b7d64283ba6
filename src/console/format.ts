/** A point in time: Unix ms, or RFC 3339 as in the API. */
export type Instant = number | string | Date;

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const units = [
  ['year', 365 * day],
  ['month', 30 * day],
  ['week', 7 * day],
  ['day', day],
  ['hour', hour],
  ['minute', minute],
  ['second', second],
] as const;

function numbersOf(locale: string | undefined) {
  const full = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const compact = new Intl.NumberFormat(locale, { notation: 'compact' });
  const shares = new Intl.NumberFormat(locale, { style: 'percent' });
  const smallShares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const percent = (share: number) =>
    (Math.abs(share) < 0.0995 && share !== 0 ? smallShares : shares).format(share);
  const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
  return {
    /** All digits: `4,123,456`. */
    full: (value: number) => full.format(value),
    /** Short: `4.1M`. */
    compact: (value: number) => compact.format(value),
    /** A fraction of 1: `40%`, and `4.2%` below a tenth. */
    percent,
    /** A part of a whole: `40%`; a dash if the whole is 0. */
    rate: (part: number, whole: number) => (whole === 0 ? '–' : percent(part / whole)),
    /** `Production, Staging and Test`. */
    list: (items: readonly string[]) => lists.format(items),
  };
}

function timesOf(locale: string | undefined, timeZone: string | undefined) {
  const dates = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, timeZone === undefined ? options : { timeZone, ...options });
  const times = dates({ dateStyle: 'medium', timeStyle: 'short' });
  const clocks = dates({ timeStyle: 'short' });
  const seconds = dates({ timeStyle: 'medium' });
  const moments = dates({ day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' });
  const days = dates({ day: 'numeric', month: 'short', timeZone: 'UTC' });
  const zone = dates({}).resolvedOptions().timeZone;
  return {
    /** Date and time in the reader's zone. */
    time: (at: Instant) => times.format(new Date(at)),
    /** The time of day in the reader's zone. */
    clock: (at: Instant) => clocks.format(new Date(at)),
    /** The time of day with seconds. */
    clockSeconds: (at: Instant) => seconds.format(new Date(at)),
    /** From one time to another, short: `14 Nov, 09:00 – 15 Nov, 10:00`. */
    span: (from: Instant, to: Instant) => moments.formatRange(new Date(from), new Date(to)),
    /** A UTC day, given as `YYYY-MM-DD` or a time in it: `14 Nov`. */
    day: (at: Instant) => days.format(new Date(at)),
    /** UTC days, both included: `14 – 20 Nov`. */
    days: (first: Instant, last: Instant) => days.formatRange(new Date(first), new Date(last)),
    /** The reader's time zone: `Europe/Berlin`. */
    zone,
    /** Its place: `Berlin`. */
    place: zone.split('/').at(-1)!.replaceAll('_', ' '),
  };
}

function durationsOf(locale: string | undefined) {
  const relatives = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const unit = (name: string, count: number) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: name === 'day' ? 'long' : 'short',
    }).format(count);
  return {
    /** Relative time: `3 minutes ago`, `now`. */
    relative(at: Instant, now: number): string {
      const distance = new Date(at).getTime() - now;
      const size = Math.abs(distance);
      if (size < 10 * second) return relatives.format(0, 'second');
      const [name, length] = units.find(([, length]) => size >= length)!;
      return relatives.format(Math.trunc(distance / length), name);
    },
    /** A duration in its two largest units: `2 hr 5 min`. */
    duration(ms: number): string {
      const whole = Math.max(0, Math.round(ms / second)) * second;
      const parts = parting.map(([name, length], index) => {
        const above = parting[index - 1]?.[1] ?? Number.POSITIVE_INFINITY;
        return { name, count: Math.floor((whole % above) / length) };
      });
      const first = parts.findIndex(({ count }) => count > 0);
      if (first < 0) return unit('second', 0);
      const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0);
      return shown.map(({ name, count }) => unit(name, count)).join(' ');
    },
  };
}

const parting = units.slice(3);

/**
 * Formats numbers and times.
 * @param locale by default the browser's
 * @param timeZone by default the browser's
 */
export function formatsOf(locale?: string, timeZone?: string) {
  return { ...numbersOf(locale), ...timesOf(locale, timeZone), ...durationsOf(locale) };
}

/** In the browser's locale and time zone. */
export const format = formatsOf();

/** A count and its noun: `plural(1, 'flag')` is `1 flag`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${format.full(count)} ${count === 1 ? one : many}`;
}
