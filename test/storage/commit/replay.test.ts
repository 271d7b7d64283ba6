import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { encodeEnvelope } from '../../../src/storage/commit/envelope.ts';
import { Fold } from '../../../src/storage/commit/fold.ts';
import { openJournal } from '../../../src/storage/journal/place.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { BatchFiller, packet } from '../../support/random-batches.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { dump } from '../../support/whole-batch.ts';

const segmentSize = 64 * 1024;

function openLane(data: string, failsAt: { value: number }) {
  const store = openUsageTables(data);
  const { fold, forget } = createAggregator(store);
  const place = { directory: join(data, 'journal', '1'), id: Buffer.alloc(16, 1), segmentSize };
  const failing: typeof fold = (group, envelopes, finish) =>
    fold(group, envelopes, () => {
      finish();
      failsAt.value -= 1;
      if (failsAt.value === 0) throw new Error('the disk is full');
    });
  const folding = new Fold(store.lmdb, place, { groups: ['prompt', 'people'], fold: failing, forget });
  const last = folding.finish();
  // A short segment is removed once it is folded, so that the next segment can reuse its name.
  return { store, folding, writer: new JournalWriter(openJournal(place), last, segmentSize / 2) };
}

const step = fc.record({
  packets: fc.array(packet, { maxLength: 4 }),
  ends: fc.constantFrom('nothing', 'fold', 'fold all', 'fail', 'stop', 'crash'),
  /** The number of the failing transaction. */
  at: fc.constantFrom(1, 2),
});

test('each batch counts once, across folds, failures, restarts and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const data = temporaryDirectory();
      const reference = openUsageTables(temporaryDirectory());
      const { write } = createAggregator(reference);
      const filler = new BatchFiller();
      const failsAt = { value: 0 };
      let lane = openLane(data, failsAt);
      for (const { packets, ends, at } of steps) {
        const envelope = filler.fill(packets, 1_800_000_000).seal();
        write(envelope);
        lane.folding.prepare();
        const appended = lane.writer.append(encodeEnvelope(envelope));
        if (ends === 'fold' || ends === 'fold all') {
          lane.folding.fold({ upTo: appended, people: ends === 'fold all' });
        }
        if (ends === 'fail') {
          failsAt.value = at;
          const failing = () => lane.folding.fold({ upTo: appended, people: true });
          expect(failing).toThrow('the disk is full');
        }
        if (ends !== 'stop' && ends !== 'crash') continue;
        lane.writer.close();
        if (ends === 'stop') lane.folding.finish();
        lane.folding.close();
        await lane.store.lmdb.close();
        lane = openLane(data, failsAt);
      }
      lane.writer.close();
      lane.folding.finish();
      const plain = (rows: string[]) => rows.filter((row) => !row.startsWith('carried'));
      expect(plain(dump(lane.store))).toEqual(plain(dump(reference)));
      lane.folding.close();
      await Promise.all([lane.store.lmdb.close(), reference.lmdb.close()]);
    }),
    { numRuns: 60 },
  );
});
