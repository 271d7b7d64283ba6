import { seriesPerEnvironment } from '../lmdb/blocks.ts';
import { daysOver, readRollUpState } from '../lmdb/roll-up-state.ts';
import { environmentOrdinal, sketchChunks } from '../lmdb/sketches.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../lmdb/snapshot.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { HyperLogLog } from './hyperloglog.ts';

export interface UniqueUsers {
  readonly environment: number;
  /** Number of users by series ordinal. Series without users are omitted. */
  readonly series: Map<number, number>;
  /** One number for each group, in the order of the groups. */
  readonly groups: number[];
}

/** Approximate number of sketches in memory, of at most 32 kB each. Unions of groups can double this number. */
const seriesAtATime = 128;

/**
 * Counts the unique users of an environment, of its series and of groups of series over some days. For example, the
 * series of a feature itself and of its variants are a group. To bound the memory, only some groups are counted at a
 * time. Groups with adjacent ordinals are read together, so a report takes about one pass over the days.
 */
export function* countUniqueUsers(
  unions: UserUnions,
  environment: number,
  days: Days,
  groups: readonly (readonly number[])[],
): Reading<UniqueUsers> {
  const all = yield* unions.of(environment, days, [environmentOrdinal]);
  const users: UniqueUsers = { environment: all.get(environmentOrdinal)!.estimate(), series: new Map(), groups: [] };
  const most = users.environment;
  for (const some of slices(groups)) {
    const ordinals = new Set(some.flatMap(([, group]) => group));
    const sketches = yield* unions.of(environment, days, [...ordinals]);
    for (const [ordinal, sketch] of sketches) {
      const count = limitToWhole(most, sketch.estimate());
      if (count > 0) users.series.set(ordinal, count);
    }
    for (const [index, group] of some) {
      const union = unite(group.map((ordinal) => sketches.get(ordinal)!)).estimate();
      const parts = group.map((ordinal) => users.series.get(ordinal) ?? 0);
      users.groups[index] = within(limitToWhole(most, union), parts);
    }
  }
  return users;
}

/** Maximum relative difference between two estimates of the same users. */
const noise = 0.04;

/**
 * Limits an estimate for a series or a group to the environment's estimate, if the difference can be an estimation
 * error. A clearly larger estimate is right, because a report can name users of a feature but not of the environment.
 */
function limitToWhole(whole: number, part: number): number {
  return part > whole && part <= whole * (1 + noise) ? whole : part;
}

/**
 * Limits an estimate of the users that used at least one of several series. The result is at least the greatest
 * estimate of a series, and at most the sum of the estimates. Independent estimates could violate both limits.
 */
function within(union: number, parts: readonly number[]): number {
  const sum = parts.reduce((total, each) => total + each, 0);
  return Math.min(sum, Math.max(union, ...parts));
}

export interface EnvironmentUsers {
  readonly byDay: readonly number[];
  readonly all: HyperLogLog;
}

export function* environmentUsers(
  store: UsageTables,
  environment: number,
  { from, to }: Days,
  at: Snapshot,
): Reading<EnvironmentUsers> {
  const all = new HyperLogLog();
  const byDay: number[] = [];
  for (let day = from; day < to; day += 1) {
    const ofDay = new HyperLogLog();
    const first = environmentOrdinal;
    const end = environmentOrdinal + 1;
    for (const { chunk, content } of sketchChunks(store, environment, day, first, end, at)) {
      all.mergeChunk(chunk, content);
      ofDay.mergeChunk(chunk, content);
    }
    byDay.push(ofDay.estimate());
    yield;
  }
  return { byDay, all };
}

type NumberedGroup = readonly [index: number, ordinals: readonly number[]];

function* slices(groups: readonly (readonly number[])[]): Generator<readonly NumberedGroup[]> {
  const first = (ordinals: readonly number[]) => Math.min(seriesPerEnvironment, ...ordinals);
  const sorted = [...groups.entries()].sort(([, a], [, b]) => first(a) - first(b));
  let slice: NumberedGroup[] = [];
  let series = 0;
  for (const group of sorted) {
    slice.push(group);
    series += group[1].length;
    if (series < seriesAtATime) continue;
    yield slice;
    slice = [];
    series = 0;
  }
  if (slice.length > 0) yield slice;
}

/** Approximate maximum bytes of unions in memory: 500 series with many users each. */
const maxBytes = 16 * 2 ** 20;

/** Approximate memory of a union in addition to its chunks, in bytes. */
const unionBytes = 600;

/**
 * Computes unions of series' sketches over days. Unions of past days are cached, because pages request the same unions
 * repeatedly. A new user of a past day, or the end of a day, changes the key, so that a new union is computed.
 */
export class UserUnions {
  readonly #store: UsageTables;
  /** Cached unions by key. The most recently used union is last. */
  readonly #kept = new Map<string, HyperLogLog>();
  #bytes = 0;

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** @returns unions by ordinal. Do not change a union, because it can be cached. */
  *of(environment: number, days: Days, ordinals: readonly number[]): Reading<ReadonlyMap<number, HyperLogLog>> {
    const store = this.#store;
    store.lmdb.resetReadTxn(); // The next read includes everything committed so far.
    const carried = readRollUpState(store.carried, environment);
    const end = Math.max(days.from, Math.min(days.to, daysOver(carried)));
    const key = `${environment} ${days.from} ${end} ${carried.lateUsers}`;
    const known = yield* this.#whole(key, environment, { from: days.from, to: end }, ordinals);
    const open = emptyOnes(ordinals);
    yield* readSketches(store, environment, { from: end, to: days.to }, open);
    return new Map(ordinals.map((ordinal) => [ordinal, unite([known.get(ordinal)!, open.get(ordinal)!])]));
  }

  *#whole(
    key: string,
    environment: number,
    days: Days,
    ordinals: readonly number[],
  ): Reading<ReadonlyMap<number, HyperLogLog>> {
    const known = new Map(ordinals.map((ordinal) => [ordinal, this.#take(`${key} ${ordinal}`)]));
    const missing = emptyOnes(ordinals.filter((ordinal) => known.get(ordinal) === undefined));
    yield* readSketches(this.#store, environment, days, missing);
    for (const [ordinal, union] of missing) this.#keep(`${key} ${ordinal}`, union);
    return new Map(ordinals.map((ordinal) => [ordinal, known.get(ordinal) ?? missing.get(ordinal)!]));
  }

  #take(key: string): HyperLogLog | undefined {
    const union = this.#kept.get(key);
    if (union === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, union);
    return union;
  }

  #keep(key: string, union: HyperLogLog): void {
    if (this.#kept.has(key)) return; // Another report has cached the union in the meantime.
    this.#kept.set(key, union);
    this.#bytes += unionBytes + union.bytes;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= maxBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= unionBytes + bytes;
    }
  }
}

/** Returns the union of sketches without changing them. The result can be one of the given sketches. */
export function unite(sketches: readonly HyperLogLog[]): HyperLogLog {
  const [first = new HyperLogLog(), ...others] = sketches.filter((sketch) => sketch.bytes > 0);
  if (others.length === 0) return first;
  const union = first.copy();
  for (const other of others) union.merge(other);
  return union;
}

function emptyOnes(ordinals: readonly number[]): ReadonlyMap<number, HyperLogLog> {
  return new Map(ordinals.map((ordinal) => [ordinal, new HyperLogLog()]));
}

/** Days since the epoch (UTC): `from` inclusive, `to` exclusive. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

function* readSketches(
  store: UsageTables,
  environment: number,
  days: Days,
  sketches: ReadonlyMap<number, HyperLogLog>,
): Reading<void> {
  const runs = findRuns([...sketches.keys()]);
  let left = stride;
  for (let day = days.from; day < days.to && runs.length > 0; day++) {
    yield* fromSnapshot(store.lmdb, function* (at) {
      for (const { from, to } of runs) {
        for (const { ordinal, chunk, content } of sketchChunks(store, environment, day, from, to, at)) {
          sketches.get(ordinal)?.mergeChunk(chunk, content);
          left -= 1;
          if (left > 0) continue;
          left = stride;
          yield;
        }
      }
    });
  }
}

/** Number of chunks to read between two pauses. */
const stride = 64;

/** Maximum gap between two ordinals that the cursor reads through. The cursor seeks over larger gaps. */
const maxGap = 4;

/** The ranges of ordinals that lie close together: `from` inclusive, `to` exclusive. */
function findRuns(ordinals: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const ordinal of ordinals.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && ordinal - last.to <= maxGap) last.to = ordinal + 1;
    else runs.push({ from: ordinal, to: ordinal + 1 });
  }
  return runs;
}
