import { surplusName } from '../../contract/names.ts';
import { addCounts } from '../../storage/aggregate/merge.ts';
import { type CountsBlock, readCarriedCounts } from '../../storage/aggregate/read-counts.ts';
import { type Days, type EnvironmentUsers, environmentUsers } from '../../storage/aggregate/unique-users.ts';
import { type Counts, computePlace, countsCodec, horizonsAt, type Retention } from '../../storage/lmdb/blocks.ts';
import { hoursWritten, ledgerEntries } from '../../storage/lmdb/ledger.ts';
import type { RollUpState } from '../../storage/lmdb/roll-up-state.ts';
import { featureItself, listSeenSeries, listSeries } from '../../storage/lmdb/series.ts';
import { environmentOrdinal } from '../../storage/lmdb/sketches.ts';
import { type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { chooseGrain, lastAtOrBefore, splitUserDays } from '../usage/report-range.ts';
import {
  bucketsBefore,
  createGrid,
  findBucket,
  type Grid,
  grainBefore,
  hoursAround,
  type OverviewRange,
  type Span,
} from './overview-range.ts';

/** The running counts of an overview. */
export class Totals {
  /** Checks of each series, by ordinal. */
  readonly checks: Float64Array;
  /** Uses of each feature, by number. */
  readonly used: Float64Array;
  readonly viewed: Float64Array;
  /** The points of all sparklines, feature by feature. */
  readonly spark: Float64Array;
  /** Points of the whole environment, bucket by bucket. */
  readonly series: Readonly<Record<keyof Counts, Float64Array>>;

  /** @param other counts to start from, if any */
  constructor({ features, featureByOrdinal }: Names, { length, spark }: Grid, other?: Totals) {
    this.checks = other?.checks.slice() ?? new Float64Array(featureByOrdinal.length);
    this.used = other?.used.slice() ?? new Float64Array(features.length);
    this.viewed = other?.viewed.slice() ?? new Float64Array(features.length);
    this.spark = other?.spark.slice() ?? new Float64Array(features.length * spark.length);
    const start = (field: keyof Counts) => other?.series[field].slice() ?? new Float64Array(length);
    this.series = { checks: start('checks'), used: start('used'), viewed: start('viewed') };
  }

  add(block: CountsBlock, { featureByOrdinal }: Names, grid: Grid): void {
    const { size, ordinals, checks, used, viewed } = block;
    const { each, spark } = grid;
    const bucket = findBucket(grid, block.minute * 60);
    const point = Math.floor(bucket / each);
    const sums = { checks: 0, used: 0, viewed: 0 };
    for (let index = 0; index < size; index += 1) {
      const ordinal = ordinals[index]!;
      const feature = featureByOrdinal[ordinal];
      if (feature === undefined) continue;
      this.checks[ordinal]! += checks[index]!;
      this.spark[feature * spark.length + point]! += checks[index]!;
      this.used[feature]! += used[index]!;
      this.viewed[feature]! += viewed[index]!;
      sums.checks += checks[index]!;
      sums.used += used[index]!;
      sums.viewed += viewed[index]!;
    }
    for (const field of ['checks', 'used', 'viewed'] as const) this.series[field][bucket]! += sums[field];
  }

  total(): Counts {
    const sum = (numbers: Float64Array) => numbers.reduce((all, each) => all + each, 0);
    const { checks, used, viewed } = this.series;
    return { checks: sum(checks), used: sum(used), viewed: sum(viewed) };
  }
}

/** The counts of a span, and the checks of each feature in the span, by feature number. */
export class SpanTotals {
  readonly counts: Counts;
  readonly checks: Float64Array;

  /** @param other counts to start from, if any */
  constructor({ features }: Names, other?: SpanTotals) {
    this.counts = other === undefined ? countsCodec.empty() : { ...other.counts };
    this.checks = other?.checks.slice() ?? new Float64Array(features.length);
  }

  add({ size, ordinals, checks, used, viewed }: CountsBlock, { featureByOrdinal }: Names): void {
    for (let index = 0; index < size; index += 1) {
      addCounts(this.counts, checks[index]!, used[index]!, viewed[index]!);
      const feature = featureByOrdinal[ordinals[index]!];
      if (feature !== undefined && feature >= 0) this.checks[feature]! += checks[index]!;
    }
  }
}

/** The numbered features of an environment, and the series of each feature. */
export interface Names {
  readonly features: readonly string[];
  /** The number of the feature of a series, by ordinal; -1 for a metric without a feature. */
  readonly featureByOrdinal: readonly number[];
  /** The variant of a series, by ordinal. */
  readonly variantByOrdinal: readonly (string | undefined)[];
}

/** Number of series between two pauses. */
const stride = 512;

/** Reads the features of an environment. */
export function* readNames(store: UsageTables, environment: number, at: Snapshot): Reading<Names> {
  const numbers = new Map<string, number>();
  const featureByOrdinal: number[] = [];
  const variantByOrdinal: (string | undefined)[] = [];
  for (const { ordinal, name } of listSeries(store, environment, at)) {
    if (ordinal % stride === 0) yield;
    const feature = name.length === 3 ? name[1] : name[0];
    if (name.length === 1 || (name.length === 3 && feature === surplusName)) {
      featureByOrdinal[ordinal] = -1;
      continue;
    }
    const number = numbers.get(feature) ?? numbers.size;
    numbers.set(feature, number);
    featureByOrdinal[ordinal] = number;
    if (name.length === 2 && name[1] !== featureItself) variantByOrdinal[ordinal] = name[1];
  }
  return { features: [...numbers.keys()], featureByOrdinal, variantByOrdinal };
}

/** Times at which features were first and last seen, by number. Minutes since the epoch, 0 for never. */
export interface Sights {
  readonly first: Uint32Array;
  readonly last: Uint32Array;
  /** Time at which the environment was first seen; `Infinity` for never. */
  readonly earliest: number;
}

/** Reads when features were seen. @returns `undefined` if `names` lacks a series of the store */
export function* readSights(
  store: UsageTables,
  environment: number,
  { features, featureByOrdinal }: Names,
  at: Snapshot,
): Reading<Sights | undefined> {
  const first = new Uint32Array(features.length);
  const last = new Uint32Array(features.length);
  let earliest = Number.POSITIVE_INFINITY;
  for (const seen of listSeenSeries(store, environment, at)) {
    if (seen.ordinal % stride === 0) yield;
    const feature = featureByOrdinal[seen.ordinal];
    if (feature === undefined && seen.ordinal !== environmentOrdinal) return undefined;
    earliest = Math.min(earliest, seen.first);
    if (feature === undefined || feature < 0) continue;
    first[feature] = first[feature] === 0 ? seen.first : Math.min(first[feature]!, seen.first);
    last[feature] = Math.max(last[feature]!, seen.last);
  }
  return { first, last, earliest };
}

/** The range and environment of an overview. */
export interface OverviewRequest extends OverviewRange {
  /** Number of the application. */
  readonly application: number;
  readonly environment: { readonly number: number };
  /** Unix ms. */
  readonly now: number;
  readonly retention: Retention;
}

/** The data of an overview that is constant between two roll-ups: all but the last minutes. */
export interface OverviewBase {
  readonly names: Names;
  readonly totals: Totals;
  /** Counts of the previous range. */
  readonly before: SpanTotals;
  /** Counts of the end of the range, which is not compared. */
  readonly rest: SpanTotals;
  /** Messages of the complete hours. */
  readonly ledger: HourlyLedger;
  /** Users of the complete days of the range, and of the same number of days before the range. */
  readonly users: EnvironmentUsers;
  readonly usersBefore: EnvironmentUsers;
}

/** Returns the complete hours of the ledger that an overview needs. */
export function hoursOver(wanted: OverviewRequest): Span {
  const { from, to } = hoursAround(wanted);
  return { from, to: Math.max(from, Math.min(to, hoursWritten(wanted.now))) };
}

/** Splits a range into its complete days, the days before it for comparison, and the rest of the range. */
export function splitDays({ range, daysBack }: Pick<OverviewRequest, 'range' | 'daysBack'>) {
  const { whole: over, rest } = splitUserDays(range);
  const { from } = over;
  const length = over.to - from;
  const start = Math.max(0, from - Math.max(daysBack ?? 0, length));
  const before: Days = { from: start, to: daysBack === 0 ? start : Math.min(from, start + length) };
  return { over, before, rest };
}

function* readBase(
  store: UsageTables,
  wanted: OverviewRequest,
  carried: RollUpState,
  at: Snapshot,
): Reading<OverviewBase> {
  const { environment, range, comparison, application } = wanted;
  const { number } = environment;
  const grid = createGrid(range);
  const names = yield* readNames(store, number, at);
  const totals = new Totals(names, grid);
  const whole = { ...range, grain: chooseGrain(range) };
  yield* readCarriedCounts(store, number, whole, carried, at, (block) => totals.add(block, names, grid));
  const sum = (span: Span | undefined) => sumCarried(store, number, names, span, carried, at);
  const days = splitDays(wanted);
  return {
    names,
    totals,
    before: yield* sum(comparison?.before),
    rest: yield* sum(comparison && { from: comparison.against.to, to: range.to }),
    ledger: yield* hourlyLedger(store, application, number, hoursOver(wanted), at),
    users: yield* environmentUsers(store, number, days.over, at),
    usersBefore: yield* environmentUsers(store, number, days.before, at),
  };
}

/** The counts of the previous range by bucket. */
export class PastSeries implements Record<keyof Counts, number[]> {
  readonly checks: number[];
  readonly used: number[];
  readonly viewed: number[];
  readonly #bounds: readonly number[];

  /** @param bounds starts of the buckets, and the end of the last bucket, minutes since the epoch */
  constructor(bounds: readonly number[], other?: PastSeries) {
    this.#bounds = bounds;
    const start = (field: keyof Counts) => other?.[field].slice() ?? new Array<number>(bounds.length - 1).fill(0);
    this.checks = start('checks');
    this.used = start('used');
    this.viewed = start('viewed');
  }

  get span(): Span {
    return { from: this.#bounds[0]!, to: this.#bounds.at(-1)! };
  }

  copy(): PastSeries {
    return new PastSeries(this.#bounds, this);
  }

  add({ minute, size, checks, used, viewed }: CountsBlock): void {
    const at = Math.min(this.checks.length - 1, lastAtOrBefore(this.#bounds, minute));
    for (let index = 0; index < size; index += 1) {
      this.checks[at]! += checks[index]!;
      this.used[at]! += used[index]!;
      this.viewed[at]! += viewed[index]!;
    }
  }
}

/** Maximum number of cached series, of some kilobytes each. */
const maxPast = 64;

/**
 * Caches the counts of previous ranges, which do not change when new counts are rolled up. Reading them takes as long
 * as reading the range itself. The first overview of a range that ends now is created without them. The next overview,
 * seconds later, has these counts.
 */
class PastCache {
  readonly #store: UsageTables;
  readonly #kept = new Map<string, PastSeries>();
  readonly #seen = new Set<string>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** Returns the cached counts. @returns `undefined` without a previous range, or for the first overview */
  *get(
    { environment, range, comparison, now, retention }: OverviewRequest,
    carried: RollUpState,
    at: Snapshot,
  ): Reading<PastSeries | undefined> {
    if (comparison === undefined) return undefined;
    const { number } = environment;
    const horizons = horizonsAt(now, retention);
    const bounds = bucketsBefore(range, comparison, createGrid(range).length, horizons);
    if (bounds.length < 2) return undefined;
    const past = new PastSeries(bounds);
    const isDone = computePlace(past.span.to) <= Math.min(carried.minutes, carried.hours);
    const key = JSON.stringify([number, range.step, bounds, isDone ? carried.late : carried]);
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    if (this.#isFirst(JSON.stringify([number, range.step, bounds.length])) && range.to * 60_000 > now) return undefined;
    const wanted = { ...past.span, grain: grainBefore(range, comparison, horizons) };
    yield* readCarriedCounts(this.#store, number, wanted, carried, at, (block) => past.add(block));
    this.#kept.set(key, past);
    if (this.#kept.size > maxPast) this.#kept.delete(this.#kept.keys().next().value!);
    return past;
  }

  #isFirst(kind: string): boolean {
    if (this.#seen.has(kind)) return false;
    if (this.#seen.size >= maxPast) this.#seen.clear();
    this.#seen.add(kind);
    return true;
  }
}

function* sumCarried(
  store: UsageTables,
  environment: number,
  names: Names,
  span: Span | undefined,
  carried: RollUpState,
  at: Snapshot,
): Reading<SpanTotals> {
  const total = new SpanTotals(names);
  if (span === undefined) return total;
  yield* readCarriedCounts(store, environment, { ...span, grain: 'day' }, carried, at, (block) =>
    total.add(block, names),
  );
  return total;
}

/** Maximum number of cached bases, of a few megabytes each. */
const maxBases = 16;

/** Caches the bases of the latest overviews. Pages poll the same overviews every second or two. */
export class OverviewBases {
  readonly #store: UsageTables;
  readonly #kept = new Map<string, OverviewBase>();
  readonly past: PastCache;

  constructor(store: UsageTables) {
    this.#store = store;
    this.past = new PastCache(store);
  }

  /** Returns a base. @param anew true if the cached base lacks a series */
  *get(wanted: OverviewRequest, carried: RollUpState, at: Snapshot, anew = false): Reading<OverviewBase> {
    const key = formatKey(wanted, carried);
    const known = anew ? undefined : this.#kept.get(key);
    const base = known ?? (yield* readBase(this.#store, wanted, carried, at));
    this.#kept.delete(key);
    this.#kept.set(key, base);
    if (this.#kept.size > maxBases) this.#kept.delete([...this.#kept.keys()][0]!);
    return base;
  }
}

function formatKey(wanted: OverviewRequest, carried: RollUpState): string {
  const { environment, range, comparison } = wanted;
  return JSON.stringify([environment.number, range, comparison, carried, hoursOver(wanted), splitDays(wanted)]);
}

/** Messages by hour. Index 0 is the hour `from` (hours since the epoch). */
export interface HourlyLedger {
  readonly from: number;
  readonly accepted: number[];
  readonly refused: number[];
}

/** Adds up an application's ledger for one environment by hour. */
export function* hourlyLedger(
  store: UsageTables,
  application: number,
  environment: number,
  { from, to }: Span,
  at: Snapshot,
): Reading<HourlyLedger> {
  const zeros = () => new Array<number>(to - from).fill(0);
  const hourly = { from, accepted: zeros(), refused: zeros() };
  yield* readEach(ledgerEntries(store, application, from, to, at), ({ hour, dimensions, count }) => {
    if (dimensions.environment !== environment || dimensions.outcome === 'noted') return;
    hourly[dimensions.outcome][hour - from]! += count;
  });
  return hourly;
}

/** Adds up the messages of a span of hours. Hours that were not read count as 0. */
export function receivedIn({ from: start, accepted, refused }: HourlyLedger, { from, to }: Span) {
  const sum = (hours: readonly number[]) =>
    hours.slice(Math.max(0, from - start), Math.max(0, to - start)).reduce((total, each) => total + each, 0);
  return { accepted: sum(accepted), refused: sum(refused) };
}
