import { seriesPerEnvironment } from '../store/blocks.ts';
import { environmentOrdinal, sketchChunks } from '../store/sketches.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';
import { HyperLogLog } from './hyperloglog.ts';

/** Days since the epoch (UTC): from `from` up to but without `to`. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

/** How many different users there were over all days. */
export interface UniqueUsers {
  readonly environment: number;
  /** By series ordinal; a series without users is missing. */
  readonly series: Map<number, number>;
  /** One number for each group, in the order of the groups. */
  readonly groups: number[];
}

/** About how many sketches are in memory at a time, of at most 32 kB each, and as many for their groups. */
const seriesAtATime = 128;

/**
 * Counts the unique users of an environment, of its series and of groups of series over some days. A feature is a group: its
 * variants, and the ordinal of the feature itself.
 *
 * Memory is bounded whatever the environment holds, because only some groups are counted at a time. Groups with adjacent
 * ordinals are read together, so a report takes about one pass over the days.
 * @param groups the ordinals of each group; an ordinal may be in several groups
 */
export function* countUniqueUsers(
  store: UsageStore,
  environment: number,
  days: Days,
  groups: readonly (readonly number[])[],
): Reading<UniqueUsers> {
  const all = new Map([[environmentOrdinal, new HyperLogLog()]]);
  yield* read(store, environment, days, all);
  const users: UniqueUsers = {
    environment: all.get(environmentOrdinal)!.estimate(),
    series: new Map(),
    groups: [],
  };
  for (const some of slices(groups)) {
    const sketches = new Map(
      some.flatMap(([, group]) => group).map((ordinal) => [ordinal, new HyperLogLog()]),
    );
    yield* read(store, environment, days, sketches);
    for (const [ordinal, sketch] of sketches) {
      const count = sketch.estimate();
      if (count > 0) users.series.set(ordinal, count);
    }
    for (const [index, group] of some) {
      users.groups[index] = unite(group, sketches).estimate();
    }
  }
  return users;
}

/** The users of an environment: by day, and of each of the spans that were asked for. */
export interface EnvironmentUsers {
  readonly byDay: ReadonlyMap<number, number>;
  readonly of: readonly number[];
}

/** Counts the unique users of an environment as a whole, day by day and over some spans of days. */
export function* environmentUsers(
  store: UsageStore,
  environment: number,
  spans: readonly Days[],
  at: Snapshot,
): Reading<EnvironmentUsers> {
  const unions = spans.map(() => new HyperLogLog());
  const byDay = new Map<number, number>();
  const first = Math.max(0, Math.min(...spans.map(({ from }) => from)));
  const end = Math.max(...spans.map(({ to }) => to));
  for (let day = first; day < end; day += 1) {
    const sketch = new HyperLogLog();
    const [from, to] = [environmentOrdinal, environmentOrdinal + 1];
    for (const { chunk, content } of sketchChunks(store, environment, day, from, to, at)) {
      sketch.mergeChunk(chunk, content);
    }
    for (const [index, span] of spans.entries()) {
      if (day >= span.from && day < span.to) unions[index]!.merge(sketch);
    }
    byDay.set(day, sketch.estimate());
    yield;
  }
  return { byDay, of: unions.map((union) => union.estimate()) };
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

/** Adds the users of the days to the sketches of the ordinals. */
function* read(
  store: UsageStore,
  environment: number,
  days: Days,
  sketches: ReadonlyMap<number, HyperLogLog>,
): Reading<void> {
  const ordinals = [...sketches.keys()];
  const from = Math.min(...ordinals);
  const to = Math.max(...ordinals) + 1;
  for (let day = days.from; day < days.to && ordinals.length > 0; day++) {
    yield* fromSnapshot(store.lmdb, function* (at) {
      for (const { ordinal, chunk, content } of sketchChunks(store, environment, day, from, to, at)) {
        sketches.get(ordinal)?.mergeChunk(chunk, content);
        yield;
      }
    });
  }
}

function unite(group: readonly number[], sketches: ReadonlyMap<number, HyperLogLog>): HyperLogLog {
  const union = new HyperLogLog();
  for (const ordinal of group) union.merge(sketches.get(ordinal)!);
  return union;
}
