import type { Query } from './api/client.ts';
import { format, type Instant } from './format.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The relative ranges. They end now. */
export const presets = {
  '1h': { label: '1 hour', length: hour, step: 'minute' },
  '6h': { label: '6 hours', length: 6 * hour, step: 'minute' },
  '24h': { label: '24 hours', length: day, step: 'hour' },
  '7d': { label: '7 days', length: 7 * day, step: 'hour' },
  '30d': { label: '30 days', length: 30 * day, step: 'day' },
  '90d': { label: '90 days', length: 90 * day, step: 'day' },
} as const;

export type Preset = keyof typeof presets;
export type Step = 'minute' | 'hour' | 'day';

export type Range =
  | { readonly preset: Preset }
  /** Unix ms; `from` included, `to` not. */
  | { readonly from: number; readonly to: number };

/** A range at a point in time: whole buckets. The last may be incomplete. */
export interface Bounds {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  readonly step: Step;
}

export const widths: Readonly<Record<Step, number>> = { minute, hour, day };

const usual: Range = { preset: '7d' };

/** Maximum number of buckets of a fixed range. */
const maxBuckets = 400;

/** Reads the range of an address. Returns the usual range if it is invalid. */
export function readRange(query: Readonly<Record<string, string>>): Range {
  const { range, from, to } = query;
  if (from !== undefined && to !== undefined) {
    const fixed = { from: Date.parse(from), to: Date.parse(to) };
    if (fixed.from < fixed.to) return fixed;
  }
  return range !== undefined && Object.hasOwn(presets, range) ? { preset: range as Preset } : usual;
}

/** The parameters of a range. A fixed one keeps the relative one before it, to return to. */
export function rangeQuery(range: Range): Readonly<Record<string, string | undefined>> {
  if ('preset' in range) return { range: range.preset, from: undefined, to: undefined };
  return { from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString() };
}

/**
 * The buckets of a range at a point in time. They change once per bucket, so that all readers send the same request.
 * @param now Unix ms
 * @param kept retention of the buckets of a minute and of an hour
 */
export function boundsOf(range: Range, now: number, kept: { minutesMs: number; hoursMs: number }): Bounds {
  if ('preset' in range) {
    const { length, step } = presets[range.preset];
    const to = ceil(now + 1, widths[step]);
    return { from: to - length, to, step };
  }
  const step = stepOf(range, now, kept);
  return { from: floor(range.from, widths[step]), to: ceil(range.to, widths[step]), step };
}

function stepOf(
  { from, to }: { from: number; to: number },
  now: number,
  kept: { minutesMs: number; hoursMs: number },
): Step {
  const fits = (width: number, keptMs: number) => (to - from) / width <= maxBuckets && from >= now - keptMs;
  if (fits(minute, kept.minutesMs)) return 'minute';
  return fits(hour, kept.hoursMs) ? 'hour' : 'day';
}

/** Bounds as parameters of the API. */
export function boundsQuery({ from, to, step }: Bounds): Query {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step };
}

/** The name of a range: `7 days`, or its two ends. */
export function rangeLabel(range: Range): string {
  return 'preset' in range ? presets[range.preset].label : format.span(range.from, range.to);
}

/** A time as the value of `<input type="datetime-local">`, in the reader's time zone. */
export function localInput(at: Instant): string {
  const time = new Date(at);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * minute);
  return local.toISOString().slice(0, 16);
}

function floor(at: number, width: number): number {
  return Math.floor(at / width) * width;
}

function ceil(at: number, width: number): number {
  return Math.ceil(at / width) * width;
}
