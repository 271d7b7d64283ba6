import { sketchChunks } from '../lmdb/sketches.ts';
import { fromSnapshot, type Reading } from '../lmdb/snapshot.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { HyperLogLog } from './hyperloglog.ts';

/** Days since the epoch (UTC): `from` inclusive, `to` exclusive. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

/** Adds the users of the days to the sketches of the ordinals. */
export function* readSketches(
  store: UsageStore,
  environment: number,
  days: Days,
  sketches: ReadonlyMap<number, HyperLogLog>,
): Reading<void> {
  const runs = runsOf([...sketches.keys()]);
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

/** Chunks between two pauses. */
const stride = 64;

/** Maximum number of ordinals to skip by reading. For larger gaps, the cursor seeks. */
const maxGap = 4;

/** The ranges of ordinals that lie close together: `from` inclusive, `to` exclusive. */
function runsOf(ordinals: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const ordinal of ordinals.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && ordinal - last.to <= maxGap) last.to = ordinal + 1;
    else runs.push({ from: ordinal, to: ordinal + 1 });
  }
  return runs;
}
