import { countsCodec, measurementCodec } from '../store/cells.ts';
import { putMessages } from '../store/messages.ts';
import { putSeries } from '../store/series.ts';
import type { UsageStore } from '../store/usage.ts';
import { type Envelope, recordWidth } from './envelope.ts';
import { HotCells } from './hot-cells.ts';
import { addCounts, addValue } from './merge.ts';

/** Blocks of one table that a worker keeps in memory: about 40 MB when all of their cells are in use. */
const hotBlockLimit = 10_000;

/**
 * Makes the function that puts a batch on disk: it adds every record to its cell and commits all of them, with the
 * batch's new series and messages, in one transaction. When it returns, the batch is durable; when it throws, nothing of it is.
 */
export function createCommit(store: UsageStore): (envelope: Envelope) => void {
  const counts = new HotCells(store.counts, countsCodec, hotBlockLimit);
  const measurements = new HotCells(store.measurements, measurementCodec, hotBlockLimit);

  function write(envelope: Envelope): void {
    for (const series of envelope.series) putSeries(store, series);
    putMessages(store, envelope.messages);
    const c = envelope.counts;
    for (let at = 0; at < envelope.countRecords * recordWidth; at += recordWidth) {
      addCounts(counts.touch(c[at]!, c[at + 1]!), c[at + 2]!, c[at + 3]!, c[at + 4]!);
    }
    const m = envelope.measurements;
    for (let at = 0; at < envelope.measurementRecords * recordWidth; at += recordWidth) {
      addValue(measurements.touch(m[at]!, m[at + 1]!), m[at + 2]!, m[at + 3]!);
    }
    counts.put();
    measurements.put();
  }

  return (envelope) => {
    try {
      store.environment.transactionSync(() => write(envelope));
    } catch (error) {
      counts.forget();
      measurements.forget();
      throw error;
    }
  };
}
