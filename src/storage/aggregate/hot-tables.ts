import { minuteOf } from '../lmdb/blocks.ts';
import { countsCodec, type Measurement, measurementCodec } from '../lmdb/cells.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { HotCells } from './hot-cells.ts';
import { HotCounts } from './hot-counts.ts';
import { HotSeen } from './hot-seen.ts';
import { HotSketches } from './hot-sketches.ts';
import { SenderSweep } from './sender-sweep.ts';

/** Blocks of one table that a worker keeps in memory: about 40 MB when all of their cells are in use. */
const hotBlockLimit = 10_000;
/** Bytes of sketches that a worker keeps in memory. */
const hotSketchBytes = 64 * 1024 * 1024;

/** The parts of the tables that are in memory because they are being written to, or visited. */
export interface HotTables {
  readonly counts: HotCounts;
  readonly measurements: HotCells<Measurement>;
  readonly sketches: HotSketches;
  readonly seen: HotSeen;
  /** How far the visits of the senders are. */
  readonly senders: SenderSweep;
}

/**
 * Nothing in memory yet.
 * @param taken whether the store is one that is emptied again and again: see `HotSketches`
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
