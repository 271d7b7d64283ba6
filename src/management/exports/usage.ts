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

/** The common columns of series. */
export const ofSeries = {
  time: { description: 'The start of the bucket.', example: '2026-01-31T12:00:00.000Z' },
  environment: { description: 'Name of the environment.', example: 'Production' },
} as const;

/** The columns of the usage report, without users: those of two buckets cannot be added up. */
export const usageColumns = {
  ...ofSeries,
  feature: { description: 'Name of the feature.', example: 'checkout' },
  variant: { description: 'Name of the variant.', example: 'on' },
  checks: { description: 'Number of checks.', example: 5 },
  used: { description: 'Number of uses.', example: 3 },
  viewed: { description: 'Number of views.', example: 2 },
} satisfies Columns;

/** A series in the order of the rows, with its encoded name. */
interface NamedSeries {
  readonly ordinal: number;
  readonly part: Uint8Array;
}

/** Maximum number of counts in memory: many buckets of few series, or one bucket of many. */
const maxCells = 100_000;

/** The counts of an environment by time, feature and variant. Each part is read from one snapshot. */
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
    const one = a[part] ?? '';
    const other = b[part] ?? '';
    return Number(one > other) - Number(one < other);
  };
  return order(0) || order(1) || order(2);
}

/**
 * Adds up some buckets. @returns the start of the next part, minutes since the epoch
 * @throws {ApiError} if a part starts within a bucket that was rolled up since the last part: its rest is unknown
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
  'The data was rolled up during the export. Start the export again',
  1,
);

const hour = 60;
const day = minutesPerDay;

/** The limits of the narrower buckets. */
interface Kept {
  readonly minutesFrom: number;
  readonly hoursFrom: number;
}

/** The width of the narrowest bucket that contains a minute. */
function narrowestAt(minute: number, { minutesFrom, hoursFrom }: Kept): number {
  if (after(minute, day) <= hoursFrom) return day;
  return after(minute, hour) <= minutesFrom ? hour : 1;
}

/** The end of the bucket that contains a minute. */
function after(minute: number, width: number): number {
  return (Math.floor(minute / width) + 1) * width;
}

/**
 * The end of a part with few enough counts. Where only wider buckets are kept, it counts those, so that rolled-up years are
 * not read minute by minute. Both a bucket of the step and a kept bucket end there.
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

/** A part is read from one snapshot, which must not stay open for long. */
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
