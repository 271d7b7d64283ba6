import { laterForms, timeForms } from '../contract/shapes/option.ts';
import { UsageError } from './flags.ts';

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const date = /^\d{4}-\d\d-\d\d$/;

/** RFC 3339, or the format of times in tables. */
const dateTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d| UTC)$/i;

/**
 * Reads the time in a flag: a duration before now, a day (its start in UTC), or a time.
 * @returns RFC 3339 in UTC
 * @param now Unix ms
 * @throws {UsageError}
 */
export function readTime(text: string, flag: string, now: number): string {
  return readWith(text, flag, { now, direction: -1, forms: timeForms });
}

/** As `readTime`, but a duration is one after now. @throws {UsageError} */
export function readLaterTime(text: string, flag: string, now: number): string {
  return readWith(text, flag, { now, direction: 1, forms: laterForms });
}

interface Reading {
  readonly now: number;
  /** Whether a duration is before now or after. */
  readonly direction: -1 | 1;
  readonly forms: string;
}

function readWith(text: string, flag: string, reading: Reading): string {
  const at = parse(text, reading);
  if (at >= 0) return new Date(at).toISOString();
  throw new UsageError(`Cannot use --${flag} ${text}: must be a time such as ${reading.forms}`);
}

/** Unix ms; NaN if the text is not a time. */
function parse(text: string, { now, direction }: Reading): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now + direction * Number(count) * (units[unit] ?? Number.NaN);
  if (text === 'now') return now;
  if (!isDay(text.slice(0, 10))) return Number.NaN;
  if (date.test(text)) return Date.parse(`${text}T00:00:00Z`);
  return dateTime.test(text)
    ? Date.parse(text.toUpperCase().replace(/ UTC$/, 'Z').replace(' ', 'T'))
    : Number.NaN;
}

/** `Date.parse` reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const at = date.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
