import { setImmediate as turn } from 'node:timers/promises';
import { Batch } from '../../src/storage/commit/batch.ts';
import type { Committer } from '../../src/storage/commit/committer.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';

/**
 * Commits batches one after another until a batch is refused. Batch `n` contains one check of the thread's series, in
 * minute `n`. Prints the thread, the number and the result of each batch.
 */
export async function commitUntilRefused(
  committer: Pick<Committer, 'commit'>,
  thread: number,
  first: number,
  print: (line: string) => void,
): Promise<void> {
  for (let number = first; ; number++) {
    const batch = new Batch();
    if (number === first) batch.series.push({ environment: 1, ordinal: thread, name: ['feature', `v${thread}`] });
    batch.counts.add(seriesRef(1, thread), encodeBucket(bucketWidth.minute, number), 1, 0, 0);
    try {
      await committer.commit(batch.seal());
    } catch (error) {
      print(`${thread} ${number} ${(error as Error).name}\n`);
      return;
    }
    print(`${thread} ${number} kept\n`);
    await turn();
  }
}
