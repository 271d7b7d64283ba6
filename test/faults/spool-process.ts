/**
 * Writes batches to a spool and seals deltas until the process is killed: `bun spool-process.ts DATA STREAM SEED`.
 * Prints one line for each batch on disk: the identity of its message.
 */
import { writeSync } from 'node:fs';
import { Spool } from '../../src/replication/spool.ts';
import { createSpoolAggregator } from '../../src/replication/spool-aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { listSeries } from '../../src/storage/lmdb/series.ts';
import { seededRandom } from '../support/random.ts';

const [data = '', stream = '', seed = '0'] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const spool = new Spool(data, () => 'directory');
const watermark = { at: 0, applied: 0, version: 0 };
const room = { rows: 20, bytes: 10_000 };
const limits = { stream, watermark, maxIdentities: 100, maxBytes: 2 ** 30 };
const { write, seal } = createSpoolAggregator(spool.store, limits, room);
const named = new Set(Array.from(listSeries(spool.store, 1), ({ ordinal }) => ordinal));

/** Creates a batch with a packet of ten checks, and a message with one check of another series. */
function fill(number: number): Batch {
  const batch = new Batch();
  const check = (ordinal: number) => {
    if (!named.has(ordinal)) batch.series.push({ environment: 1, ordinal, name: ['feature', `v${ordinal}`] });
    named.add(ordinal);
    batch.counts.add(seriesRef(1, ordinal), encodeBucket(bucketWidth.minute, 1000 + (number % 3)), 1, 0, 0);
  };
  for (let each = 0; each < 10; each += 1) check(Math.floor(random() * 300));
  const from = batch.extent;
  check(300);
  batch.messages.add([0, 0, Number(seed), number], number, from, batch.extent);
  return batch;
}

for (let number = 0; ; number += 1) {
  write(fill(number).seal());
  writeSync(1, `${seed} ${number}\n`);
  while (random() < 0.6) seal({ watermark: { ...watermark, at: number } });
}
