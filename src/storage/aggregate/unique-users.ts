import { seriesPerEnvironment } from '../lmdb/blocks.ts';
import { environmentOrdinal, sketchChunks } from '../lmdb/sketches.ts';
import type { Reading, Snapshot } from '../lmdb/snapshot.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { HyperLogLog } from './hyperloglog.ts';
import type { Days } from './read-sketches.ts';
import { type UserUnions, unite } from './user-unions.ts';

/** Number of different users over all days. */
export interface UniqueUsers {
  readonly environment: number;
  /** By series ordinal; series without users are omitted. */
  readonly series: Map<number, number>;
  /** One number for each group, in the order of the groups. */
  readonly groups: number[];
}

/** Approximate number of sketches in memory, of at most 32 kB each; their groups have as many. */
const seriesAtATime = 128;

/**
 * Counts the unique users of an environment, of its series and of groups of series over some days. A feature is a group: its
 * variants, and the ordinal of the feature itself.
 *
 * Only some groups are counted at a time, which bounds the memory whatever the environment holds. Groups with adjacent ordinals
 * are read together, so a report takes about one pass over the days.
 * @param groups the ordinals of each group; an ordinal may be in several groups
 */
export function* countUniqueUsers(
  unions: UserUnions,
  environment: number,
  days: Days,
  groups: readonly (readonly number[])[],
): Reading<UniqueUsers> {
  const all = yield* unions.of(environment, days, [environmentOrdinal]);
  const users: UniqueUsers = {
    environment: all.get(environmentOrdinal)!.estimate(),
    series: new Map(),
    groups: [],
  };
  for (const some of slices(groups)) {
    const ordinals = new Set(some.flatMap(([, group]) => group));
    const sketches = yield* unions.of(environment, days, [...ordinals]);
    for (const [ordinal, sketch] of sketches) {
      const count = sketch.estimate();
      if (count > 0) users.series.set(ordinal, count);
    }
    for (const [index, group] of some) {
      users.groups[index] = unite(group.map((ordinal) => sketches.get(ordinal)!)).estimate();
    }
  }
  return users;
}

/** The users of an environment: per day, and over all days. */
export interface EnvironmentUsers {
  readonly byDay: readonly number[];
  readonly all: HyperLogLog;
}

/** Counts the unique users of an environment as a whole, day by day and over all days. */
export function* environmentUsers(
  store: UsageStore,
  environment: number,
  { from, to }: Days,
  at: Snapshot,
): Reading<EnvironmentUsers> {
  const all = new HyperLogLog();
  const byDay: number[] = [];
  for (let day = from; day < to; day += 1) {
    const ofDay = new HyperLogLog();
    const [first, end] = [environmentOrdinal, environmentOrdinal + 1];
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

/** The groups by ascending first ordinal, in slices of about `seriesAtATime` series. */
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
