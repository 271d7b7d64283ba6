import { Refusal } from '../../contract/errors.ts';
import { type CountsBlock, readCounts } from '../../storage/aggregate/read-counts.ts';
import { minutesPerDay } from '../../storage/lmdb/blocks.ts';
import { readRollUpState } from '../../storage/lmdb/roll-up-state.ts';
import type { SeriesName } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { bucketStart, type ReportRange, type Step, stepMinutes } from '../usage/report-range.ts';
import { pickSeries } from '../usage/sights.ts';
import type { UsageTask } from '../usage/usage-report.ts';
import type { Columns, RowWriter } from './row-writer.ts';
import type { Rows } from './rows.ts';

/** The common columns of series. */
export const ofSeries = {
  time: { description: 'Start of the bucket.', example: '2026-01-31T12:00:00.000Z' },
  environment: { description: 'Name of the environment.', example: 'Production' },
} as const;

/** The columns of the usage report, without users: users of two buckets cannot be added up. */
export const usageColumns = {
  ...ofSeries,
  feature: { description: 'Name of the feature.', example: 'checkout' },
  variant: { description: 'Name of the variant.', example: 'on' },
  checks: { description: 'Number of checks.', example: 5 },
  used: { description: 'Number of uses.', example: 3 },
  viewed: { description: 'Number of views.', example: 2 },
} satisfies Columns;

/** A series with its encoded names. The rows of a bucket are in the order of the series. */
interface NamedSeries {
  readonly ordinal: number;
  readonly cells: Uint8Array;
}

/** Maximum number of counts in memory: many buckets of few series, or one bucket of many series. */
const maxCells = 100_000;

/** Yields the counts of an environment by time, feature and variant. Each period is read from its own snapshot. */
export function* usageRows(store: UsageTables, { environment, range, only }: UsageTask, writer: RowWriter): Rows {
  const series = yield* seriesInOrder(store, environment, only, writer);
  const counts = new CountsByBucket(
    series.map(({ ordinal }) => ordinal),
    range.step,
  );
  for (let from = range.from; from < range.to; ) {
    from = yield* readSpan(store, environment.number, { ...range, from }, only, counts, from > range.from);
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
  return sorted.map(([ordinal, name]) => ({ ordinal, cells: writer.encode(1, [environment.name, ...name]) }));
}

/** Compares the names of two series, for the order of rows. */
export function byName(a: SeriesName, b: SeriesName): number {
  const order = (index: 0 | 1 | 2) => {
    const one = a[index] ?? '';
    const other = b[index] ?? '';
    return Number(one > other) - Number(one < other);
  };
  return order(0) || order(1) || order(2);
}

/**
 * Adds up the counts of the next period.
 * @returns the start of the following period, minutes since the epoch
 * @throws {Refusal} if the period starts within a bucket that was rolled up during the export: the counts of the rest
 * of the bucket are unknown
 */
function readSpan(
  store: UsageTables,
  environment: number,
  range: ReportRange,
  only: string | undefined,
  counts: CountsByBucket,
  goesOn: boolean,
): Reading<number> {
  return fromSnapshot(store.lmdb, function* (at) {
    const { from, step } = range;
    const kept = readRollUpState(store.carried, environment, at);
    if (goesOn && from % narrowestAt(from, kept) !== 0) throw rolledUp;
    const to = Math.min(range.to, findSpanEnd(from, step, counts.size, kept));
    const few = only === undefined ? {} : { only: counts.ordinals };
    yield* readCounts(store, environment, { from, to, grain: step, ...few }, at, (block) => counts.add(block));
    return to;
  });
}

export const rolledUp = new Refusal(
  'store_unavailable',
  'The data was rolled up during the export. Start the export again',
  1,
);

const hour = 60;
const day = minutesPerDay;

/** Times since which minutes and hours are kept as separate buckets, in minutes since the epoch. */
interface KeptBuckets {
  readonly minutesFrom: number;
  readonly hoursFrom: number;
}

/** Returns the width of the narrowest bucket that contains a minute. */
function narrowestAt(minute: number, { minutesFrom, hoursFrom }: KeptBuckets): number {
  if (after(minute, day) <= hoursFrom) return day;
  return after(minute, hour) <= minutesFrom ? hour : 1;
}

/** Returns the end of the bucket that contains a minute. */
function after(minute: number, width: number): number {
  return (Math.floor(minute / width) + 1) * width;
}

/**
 * Finds the end of a period whose counts fit in memory. Old periods are read in the wider buckets that are still kept,
 * and not in minutes. The period ends where both a bucket of the step and a kept bucket end.
 */
export function findSpanEnd(from: number, step: ReportRange['step'], series: number, kept: KeptBuckets): number {
  const narrowest = narrowestAt(from, kept);
  const width = Math.max(stepMinutes[step], narrowest);
  const buckets = Math.max(1, Math.floor(maxCells / Math.max(1, series)));
  const end = after(from, width) + (buckets - 1) * width;
  const wider = { [day]: kept.hoursFrom, [hour]: kept.minutesFrom }[width];
  const last = width > stepMinutes[step] ? Math.floor(wider! / width) * width : Number.POSITIVE_INFINITY;
  return Math.min(end, last, width === day ? after(from, day) + mostDays * day : after(from, day));
}

/** Maximum length of a period, in days. A period is read from one snapshot, which must not stay open for long. */
const mostDays = 30;

function* bucketRows(
  { at: start, has, counts }: BucketCounts,
  series: readonly NamedSeries[],
  writer: RowWriter,
): Rows {
  const time = writer.encode(0, [new Date(start * 1000).toISOString()]);
  for (let index = 0; index < series.length; index += 1) {
    if (has[index] === 0) continue;
    writer.add(time);
    writer.add(series[index]!.cells);
    for (let each = 0; each < 3; each += 1) writer.number(4 + each, counts[3 * index + each]!);
    writer.end();
    if (writer.isFull) yield;
  }
}

/** The counts of all series in one bucket, in the order of the series. */
interface BucketCounts {
  /** The start of the bucket, Unix seconds. */
  readonly at: number;
  /** 1 for series with counts, 0 for others. */
  readonly has: Uint8Array;
  /** Three counts per series: checks, used, viewed. */
  readonly counts: Float64Array;
}

/** Adds up the counts of some series by bucket. Reuses its memory for the next buckets. */
class CountsByBucket {
  readonly ordinals: readonly number[];
  readonly #step: Step;
  readonly #places: Int32Array;
  readonly #buckets = new Map<number, BucketCounts>();
  readonly #free: BucketCounts[] = [];

  /** @param ordinals series in the order of the rows */
  constructor(ordinals: readonly number[], step: Step) {
    this.ordinals = ordinals;
    this.#step = step;
    const most = ordinals.reduce((most, ordinal) => Math.max(most, ordinal), -1);
    this.#places = new Int32Array(most + 1).fill(-1);
    for (const [place, ordinal] of ordinals.entries()) this.#places[ordinal] = place;
  }

  /** Number of series. */
  get size(): number {
    return this.ordinals.length;
  }

  /** Adds the counts of a block to their bucket. Ignores the counts of other series. */
  add(block: CountsBlock): void {
    const { has, counts } = this.#ensureBucket(bucketStart(block.minute, this.#step));
    for (let index = 0; index < block.size; index += 1) {
      const place = this.#places[block.ordinals[index]!] ?? -1;
      if (place < 0) continue;
      has[place] = 1;
      counts[place * 3]! += block.checks[index]!;
      counts[place * 3 + 1]! += block.used[index]!;
      counts[place * 3 + 2]! += block.viewed[index]!;
    }
  }

  /** Returns the buckets by time. */
  buckets(): readonly BucketCounts[] {
    return [...this.#buckets.values()].sort((a, b) => a.at - b.at);
  }

  clear(): void {
    this.#free.push(...this.#buckets.values());
    this.#buckets.clear();
  }

  #ensureBucket(at: number): BucketCounts {
    const known = this.#buckets.get(at);
    if (known !== undefined) return known;
    const bucket = this.#empty(at);
    this.#buckets.set(at, bucket);
    return bucket;
  }

  #empty(at: number): BucketCounts {
    const used = this.#free.pop();
    if (used === undefined) {
      return { at, has: new Uint8Array(this.size), counts: new Float64Array(3 * this.size) };
    }
    used.has.fill(0);
    used.counts.fill(0);
    return { ...used, at };
  }
}
