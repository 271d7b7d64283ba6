import { minuteOf } from '../lmdb/blocks.ts';
import { countsCodec, type Measurement, measurementCodec } from '../lmdb/cells.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { HotCells } from './hot-cells.ts';
import { HotCounts } from './hot-counts.ts';
import { HotSeen } from './hot-seen.ts';
import { HotSketches } from './hot-sketches.ts';
import { SenderSweep } from './sender-sweep.ts';

/** Maximum number of a table's blocks in a worker's memory: about 40 MB if all their cells are in use. */
const hotBlockLimit = 10_000;
/** Maximum bytes of sketches in a worker's memory. */
const hotSketchBytes = 64 * 1024 * 1024;

/** The caches of the tables in use. */
export interface HotTables {
  readonly counts: HotCounts;
  readonly measurements: HotCells<Measurement>;
  readonly sketches: HotSketches;
  readonly seen: HotSeen;
  /** The progress of the sender sweep. */
  readonly senders: SenderSweep;
}

/**
 * Creates empty caches.
 * @param taken whether the store is one that is emptied repeatedly: see `HotSketches`
 */
export function createHotTables(store: UsageStore, taken = false): HotTables {
  const seen = new HotSeen(store);
  const inBucket = (ref: number, bucket: number) => seen.mark(ref, minuteOf(bucket));
  return {
    counts: new HotCounts(store, new HotCells(store.counts, countsCodec, hotBlockLimit, inBucket)),
    measurements: new HotCells(store.measurements, measurementCodec, hotBlockLimit, inBucket),
    sketches: new HotSketches(store.sketches, hotSketchBytes, taken),
    seen,
    senders: new SenderSweep(store),
  };
}
