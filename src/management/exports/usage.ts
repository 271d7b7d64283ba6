import { ApiError } from '../../contract/errors.ts';
import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { minutesPerDay } from '../../storage/lmdb/blocks.ts';
import { readCarried } from '../../storage/lmdb/carried.ts';
import type { SeriesName } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { UsageTask } from '../make-report.ts';
import { type ReportRange, stepMinutes } from '../report-range.ts';
import { pickSeries } from '../sights.ts';
import type { Columns } from './columns.ts';
import { type BucketCounts, CountsByBucket } from './counts-by-bucket.ts';
import type { RowWriter } from './row-writer.ts';
import type { Rows } from './rows.ts';

/** Columns that the rows of a series have in common. */
export const ofSeries = {
  time: { description: 'The start of the bucket.', example: '2026-01-31T12:00:00.000Z' },
  environment: { description: 'Name of the environment.', example: 'Production' },
} as const;

/** The rows of the usage report. Users are not in them: those of two buckets cannot be added up. */
export const usageColumns = {
  ...ofSeries,
  feature: { description: 'Name of the feature.', example: 'checkout' },
  variant: { description: 'Name of the variant.', example: 'on' },
  checks: { description: 'How often it was asked for.', example: 5 },
  used: { description: 'How often it was used.', example: 3 },
  viewed: { description: 'How often it was seen.', example: 2 },
} satisfies Columns;

/** A series in the order of the rows, with its name as it is written. */
interface NamedSeries {
  readonly ordinal: number;
  readonly part: Uint8Array;
}

/** The most counts in memory: of some buckets of few series, or of one bucket of many. */
const maxCells = 100_000;

/** The counts of an environment by time, feature and variant. Each part of the time is one snapshot. */
export function* usageRows(
  store: UsageTables,
  { environment, range, only }: UsageTask,
  writer: RowWriter,
): Rows {
  const series = yield* seriesInOrder(store, environment, only, writer);
  const counts = new CountsByBucket(
    series.map(({ ordinal }) => ordinal),
    range.step,
  );
  for (let from = range.from; from < range.to; ) {
    from = yield* readPart(store, environment.number, { ...range, from }, only, counts, from > range.from);
    for (const bucket of counts.buckets()) yield* bucketRows(bucket, series, writer);
    counts.clear();
  }
}

function* seriesInOrder(
  store: UsageTables,
  environment: UsageTask['environment'],
  only: string | undefined,
  writer: RowWriter,
): Reading<readonly NamedSeries[]> {
  const named = yield* pickSeries(store, environment.number, (name) =>
    name.length === 2 && (only ?? name[0]) === name[0] ? name : undefined,
  );
  const sorted = [...named].sort(([, a], [, b]) => byName(a, b));
  return sorted.map(([ordinal, name]) => ({ ordinal, part: writer.part(1, [environment.name, ...name]) }));
}

/** The order of series in rows. */
export function byName(a: SeriesName, b: SeriesName): number {
  const order = (part: 0 | 1 | 2) => {
    const [one = '', other = ''] = [a[part], b[part]];
    return Number(one > other) - Number(one < other);
  };
  return order(0) || order(1) || order(2);
}

/**
 * Adds up some buckets. @returns the minute at which the next part begins
 * @throws {ApiError} when a part goes on within a bucket that was rolled up since the last one: the rest of it cannot be told
 */
function readPart(
  store: UsageTables,
  environment: number,
  range: ReportRange,
  only: string | undefined,
  counts: CountsByBucket,
  goesOn: boolean,
): Reading<number> {
  return fromSnapshot(store.lmdb, function* (at) {
    const { from, step } = range;
    const kept = readCarried(store.carried, environment, at);
    if (goesOn && from % narrowestAt(from, kept) !== 0) throw rolledUp;
    const to = Math.min(range.to, endOfPart(from, step, counts.size, kept));
    const few = only === undefined ? {} : { only: counts.ordinals };
    yield* readCounts(store, environment, { from, to, grain: step, ...few }, at, (block) =>
      counts.add(block),
    );
    return to;
  });
}

export const rolledUp = new ApiError(
  'store_unavailable',
  'What is exported was rolled up meanwhile; begin again',
  1,
);

const [hour, day] = [60, minutesPerDay];

/** Where the narrowest buckets are kept. */
interface Kept {
  readonly minutesFrom: number;
  readonly hoursFrom: number;
}

/** The width of the narrowest buckets that are kept of a minute. */
function narrowestAt(minute: number, { minutesFrom, hoursFrom }: Kept): number {
  if (after(minute, day) <= hoursFrom) return day;
  return after(minute, hour) <= minutesFrom ? hour : 1;
}

/** The end of the bucket in which a minute is. */
function after(minute: number, width: number): number {
  return (Math.floor(minute / width) + 1) * width;
}

/**
 * The end of a part that has few enough counts. Where only wider buckets are kept, it has as many of these: so years that are long
 * rolled up are not read minute by minute. It is where both a bucket of the step and one of those ends.
 */
export function endOfPart(from: number, step: ReportRange['step'], series: number, kept: Kept): number {
  const narrowest = narrowestAt(from, kept);
  const width = Math.max(stepMinutes[step], narrowest);
  const buckets = Math.max(1, Math.floor(maxCells / Math.max(1, series)));
  const end = after(from, width) + (buckets - 1) * width;
  const wider = { [day]: kept.hoursFrom, [hour]: kept.minutesFrom }[width];
  const last = width > stepMinutes[step] ? Math.floor(wider! / width) * width : Number.POSITIVE_INFINITY;
  return Math.min(end, last, width === day ? after(from, day) + mostDays * day : after(from, day));
}

/** A part is one snapshot, which must not be open for long. */
const mostDays = 30;

function* bucketRows(
  { at: start, has, counts }: BucketCounts,
  series: readonly NamedSeries[],
  writer: RowWriter,
): Rows {
  const time = writer.part(0, [new Date(start * 1000).toISOString()]);
  for (let index = 0; index < series.length; index += 1) {
    if (has[index] === 0) continue;
    writer.add(time);
    writer.add(series[index]!.part);
    for (let each = 0; each < 3; each += 1) writer.number(4 + each, counts[3 * index + each]!);
    writer.end();
    if (writer.isFull) yield;
  }
}
