import { HyperLogLog } from '../storage/aggregate/hyperloglog.ts';
import { mergeCounts } from '../storage/aggregate/merge.ts';
import { readCounts } from '../storage/aggregate/read-counts.ts';
import { unite } from '../storage/aggregate/unique-users.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { type Counts, countsCodec } from '../storage/lmdb/cells.ts';
import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import { featureItself, seriesOf } from '../storage/lmdb/series.ts';
import { sketchChunks } from '../storage/lmdb/sketches.ts';
import type { Snapshot } from '../storage/lmdb/snapshot.ts';

/** What a variant counted on a day, or all variants of a feature. */
export interface DailyRow extends Counts {
  readonly feature: string;
  /** `featureItself` for all variants. */
  readonly variant: string;
  readonly users: number;
}

/**
 * Reads what an environment counted on a day, as the usage report by days says it. `undefined` is a pause.
 * @param day since the epoch
 */
export function* dailyRows(
  store: ReplicaStore,
  environment: number,
  day: number,
  at: Snapshot,
): Generator<DailyRow | undefined> {
  const counts = new Map<number, Counts>();
  const wanted = { from: day * minutesPerDay, to: (day + 1) * minutesPerDay, grain: 'day' } as const;
  yield* readCounts(store, environment, wanted, at, (block) => {
    for (let index = 0; index < block.size; index += 1) {
      const ordinal = block.ordinals[index]!;
      const [checks, used, viewed] = [block.checks[index]!, block.used[index]!, block.viewed[index]!];
      const known = counts.get(ordinal);
      if (known === undefined) counts.set(ordinal, { checks, used, viewed });
      else mergeCounts(known, { checks, used, viewed });
    }
  });
  const features = new Map<string, [variant: string, ordinal: number][]>();
  for (const { ordinal, name } of seriesOf(store, environment, at)) {
    yield;
    if (name.length !== 2) continue;
    const [feature, variant] = name;
    const series = features.get(feature);
    if (series === undefined) features.set(feature, [[variant, ordinal]]);
    else series.push([variant, ordinal]);
  }
  for (const [feature, series] of features) {
    const total = countsCodec.empty();
    const sketches: HyperLogLog[] = [];
    let isCounted = false;
    for (const [variant, ordinal] of series) {
      yield;
      const sketch = new HyperLogLog();
      for (const { chunk, content } of sketchChunks(store, environment, day, ordinal, ordinal + 1, at))
        sketch.mergeChunk(chunk, content);
      sketches.push(sketch);
      const own = counts.get(ordinal);
      if (own === undefined || variant === featureItself) continue;
      isCounted = true;
      mergeCounts(total, own);
      yield { feature, variant, ...own, users: sketch.estimate() };
    }
    const users = unite(sketches).estimate();
    if (isCounted || users > 0) yield { feature, variant: featureItself, ...total, users };
  }
}
