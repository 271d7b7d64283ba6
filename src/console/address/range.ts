import {
  type CalendarRange,
  calendarRanges,
  dayAt,
  daysBetween,
  daysFromHours,
  offsetAt,
  startOfDay,
} from '../../contract/calendar.ts';
import type { Query } from '../api/client.ts';
import { format, type Instant } from '../text/format.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Calendar ranges, such as last week. A range that includes today ends now. */
const calendar = {
  today: { label: 'Today', step: 'hour', compare: 'day' },
  yesterday: { label: 'Yesterday', step: 'hour', compare: 'day' },
  'this-week': { label: 'This week', step: 'hour', compare: 'week' },
  'last-week': { label: 'Last week', step: 'hour', compare: 'week' },
  'this-month': { label: 'This month', step: 'day', compare: 'month' },
  'last-month': { label: 'Last month', step: 'day', compare: 'month' },
} as const satisfies Record<CalendarRange, object>;

const lengths = {
  '1h': { label: '1 hour', length: hour, step: 'minute' },
  '6h': { label: '6 hours', length: 6 * hour, step: 'minute' },
  '24h': { label: '24 hours', length: day, step: 'hour' },
  '7d': { label: '7 days', length: 7 * day, step: 'hour' },
  '30d': { label: '30 days', length: 30 * day, step: 'day' },
  '90d': { label: '90 days', length: 90 * day, step: 'day' },
} as const;

export const presets = { ...calendar, ...lengths } as const;

export type Preset = keyof typeof presets;
type Step = 'minute' | 'hour' | 'day';

export type Range =
  | { readonly preset: Preset }
  /** First and last day, both included (see `contract/calendar.ts`). */
  | { readonly first: number; readonly last: number }
  /** Unix ms; `from` is included, `to` is excluded. */
  | { readonly from: number; readonly to: number };

export const comparisons = {
  previous: 'vs previous period',
  year: 'vs year before (52 weeks)',
  none: 'No comparison',
} as const;
export type Comparison = keyof typeof comparisons;

/** The buckets of a range at a given time. The last bucket can be in progress. */
export interface Bounds {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  readonly step: Step;
  /** Time zone of the days; absent if the range does not consist of days. */
  readonly zone?: string;
}

export const widths: Readonly<Record<Step, number>> = { minute, hour, day };

const usual: Range = { preset: '7d' };

const maxBuckets = 400;

/** Reads the range of an address. If that range is invalid, returns the default range. */
export function readRange(query: Readonly<Record<string, string>>): Range {
  const { range = '', from, to } = query;
  if (from !== undefined && to !== undefined) {
    const fixed = { from: Date.parse(from), to: Date.parse(to) };
    if (fixed.from < fixed.to) return fixed;
  }
  return readDays(range) ?? (Object.hasOwn(presets, range) ? { preset: range as Preset } : usual);
}

/** Parses the days of an address: `2026-11-10`, or `2026-11-10..2026-11-16`. */
export function readDays(text: string): Range | undefined {
  const found = /^(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?$/.exec(text);
  if (found === null) return undefined;
  const dates = [found[1]!, found[2] ?? found[1]!];
  const [first, last] = dates.map((date) => Date.parse(date) / day) as [number, number];
  if (!(0 <= first && first <= last)) return undefined;
  // Rejects days that do not exist, because `Date` parses 30 February as 2 March.
  return formatDate(first) === dates[0] && formatDate(last) === dates[1] ? { first, last } : undefined;
}

export const formatDate = (each: number) => new Date(each * day).toISOString().slice(0, 10);

/** Returns the query parameters of a range. A fixed range also keeps the previous relative range. */
export function rangeQuery(range: Range): Readonly<Record<string, string | undefined>> {
  if ('from' in range) return { from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString() };
  if ('preset' in range) return { range: range.preset, from: undefined, to: undefined };
  const first = formatDate(range.first);
  const last = formatDate(range.last);
  return { range: first === last ? first : `${first}..${last}`, from: undefined, to: undefined };
}

interface Retention {
  readonly minutesMs: number;
  readonly hoursMs: number;
}

/**
 * Computes the buckets of a range at a given time. The result changes only when a new bucket begins, so all readers
 * send the same request.
 * @param now Unix ms
 * @param zone the reader's time zone. UTC days are used if the zone's days cannot be added up from hours.
 */
export function computeBounds(range: Range, now: number, kept: Retention, zone = 'UTC'): Bounds {
  const keptFrom = floor(now - kept.hoursMs, day);
  for (const each of [zone, 'UTC']) {
    const bounds = boundsIn(range, now, kept, each);
    if (bounds.zone === undefined || each === 'UTC') return bounds;
    const { from, to, step } = bounds;
    const starts = daysFromHours(each, from, to + 1, step === 'day' ? keptFrom : 0);
    if (starts !== undefined) return bounds;
  }
  throw new Error('unreachable');
}

function boundsIn(range: Range, now: number, kept: Retention, zone: string): Bounds {
  const today = dayAt(zone, now);
  if ('preset' in range && range.preset in lengths) {
    const { length, step } = lengths[range.preset as keyof typeof lengths];
    if (step === 'day') return ofDays(zone, [today + 1 - length / day, today + 1], step, now);
    const to = ceil(now + 1, widths[step]);
    return { from: to - length, to, step };
  }
  if ('preset' in range) {
    const preset = range.preset as CalendarRange;
    return ofDays(zone, calendarRanges[preset](today), calendar[preset].step, now);
  }
  if ('first' in range) {
    const from = startOfDay(zone, range.first);
    const few = range.last - range.first < 8 && from >= floor(now - kept.hoursMs, day);
    return ofDays(zone, [range.first, range.last + 1], few ? 'hour' : 'day', now);
  }
  const step = chooseStep(range, now, kept);
  if (step === 'day') return ofDays(zone, [dayAt(zone, range.from), dayAt(zone, range.to - 1) + 1], step, now);
  return { from: floor(range.from, widths[step]), to: ceil(range.to, widths[step]), step };
}

/** Computes the bounds of a range of days. With hourly steps, a range that includes today ends now. */
function ofDays(zone: string, [first, end]: readonly [number, number], step: Step, now: number): Bounds {
  const from = startOfDay(zone, first);
  const to = startOfDay(zone, end);
  const past = step === 'hour' ? Math.max(from + hour, ceil(now + 1, hour)) : to;
  return { from, to: Math.min(to, past), step, zone };
}

function chooseStep({ from, to }: { from: number; to: number }, now: number, kept: Retention): Step {
  const fits = (width: number, keptMs: number) => (to - from) / width <= maxBuckets && from >= now - keptMs;
  if (fits(minute, kept.minutesMs)) return 'minute';
  return fits(hour, kept.hoursMs) ? 'hour' : 'day';
}

/** Returns the starts of the days, Unix seconds; `undefined` if all buckets are equally wide. */
export function dayStarts({ from, to, step, zone = 'UTC' }: Bounds): readonly number[] | undefined {
  return step === 'day' && zone !== 'UTC' ? daysBetween(zone, from, to).map((at) => at / 1000) : undefined;
}

export function boundsQuery({ from, to, step, zone }: Bounds): Query {
  const timeZone = zone === 'UTC' ? undefined : zone;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step, timeZone };
}

function comparedBy(range: Range, comparison: Comparison): string | undefined {
  if (comparison !== 'previous') return comparison;
  if ('preset' in range && range.preset in calendar) return calendar[range.preset as CalendarRange].compare;
  return 'first' in range && range.first === range.last ? 'day' : undefined;
}

/** Returns the query parameters of the overview. All pages send equal parameters, so they share the response. */
export function overviewQuery(range: Range, bounds: Bounds, comparison: Comparison): Query {
  return { ...boundsQuery(bounds), compare: comparedBy(range, comparison) };
}

/** Describes the period that a range is compared with: `vs previous week`. */
export function comparedWith(range: Range, comparison: Comparison): string {
  if (comparison === 'year') return 'vs 52 weeks before';
  const by = comparedBy(range, comparison);
  if (by === 'day') return 'vs the day before';
  if (by !== undefined) return `vs previous ${by}`;
  return 'preset' in range ? `vs previous ${presets[range.preset].label}` : 'vs previous period';
}

/** True if a range ends now, and its figures therefore still change. */
export function endsNow(range: Range, now: number, zone: string): boolean {
  if ('from' in range) return false;
  if ('first' in range) return range.last >= dayAt(zone, now);
  return !['yesterday', 'last-week', 'last-month'].includes(range.preset);
}

/** The name of a range: `7 days`, `Last week`, its days or its two ends. */
export function rangeLabel(range: Range): string {
  if ('preset' in range) return presets[range.preset].label;
  if ('first' in range) return format.days(range.first * day, range.last * day);
  return format.span(range.from, range.to);
}

/** The days of a calendar range: `10 – 16 Nov`; empty for other ranges. */
export function daysText(range: Range, { from, to, zone }: Bounds): string {
  if (!('preset' in range) || !(range.preset in calendar) || zone === undefined) return '';
  return format.days(dayAt(zone, from) * day, dayAt(zone, to - 1) * day);
}

/** Formats a time as the value of `<input type="datetime-local">`, in a time zone. */
export function localInput(at: Instant, zone: string): string {
  const time = new Date(at).getTime();
  return new Date(time + offsetAt(zone, time)).toISOString().slice(0, 16);
}

export function timeOfInput(value: string, zone: string): number {
  const local = Date.parse(`${value}Z`);
  if (Number.isNaN(local)) return Number.NaN;
  const guess = local - offsetAt(zone, local);
  return local - offsetAt(zone, guess);
}

function floor(at: number, width: number): number {
  return Math.floor(at / width) * width;
}

function ceil(at: number, width: number): number {
  return Math.ceil(at / width) * width;
}
