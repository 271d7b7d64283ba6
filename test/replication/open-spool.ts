import type { SealTask } from '../../src/replication/seal.ts';
import { Spool } from '../../src/replication/spool.ts';
import { createSpoolAggregator } from '../../src/replication/spool-aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Opens a spool whose deltas have one count each. */
export function openSpool({ data = temporaryDirectory(), stream = 'one' } = {}) {
  const spool = new Spool(data, () => 'directory');
  const watermark = { at: 0, applied: 0, version: 0 };
  const aggregator = createSpoolAggregator(spool.store, { stream, watermark, maxIdentities: 10 });
  const { write, seal } = aggregator;
  const count = (value: number) => {
    const batch = new Batch();
    batch.series.push({ environment: 1, ordinal: 0, name: ['checkout', 'on'] });
    batch.counts.add(seriesRef(1, 0), encodeBucket(bucketWidth.minute, 1000), value, 0, 0);
    write(batch.seal());
  };
  const step = (task: Partial<SealTask> = {}, at = 0) => seal({ watermark: { ...watermark, at }, ...task });
  const seqs = (of = stream) => spool.deltas(of, 1, 100).map(({ seq }) => seq);
  const sealMany = (deltas: number) => {
    for (let each = 0; each < deltas; each += 1) {
      count(1);
      step();
    }
  };
  return { data, spool, aggregator, count, step, seqs, sealMany };
}
