import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JournalThread } from '../../../src/storage/commit/journal-thread.ts';
import { workerFile } from '../../support/committers.ts';
import { BatchFiller } from '../../support/random-batches.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

test('the journal thread prepares a segment itself if the folding thread prepares no segment', async () => {
  const directory = join(temporaryDirectory(), '1');
  const journal = new JournalThread(workerFile('storage/commit/journal-worker'), {
    directory,
    id: Buffer.alloc(16, 1),
    segmentSize: 8_192,
  });
  journal.begin(0);
  const filler = new BatchFiller();
  let last = 0;
  for (let segment = 0; segment < 4; ) {
    await journal.append(filler.fill([], 0).seal());
    expect(journal.state.tail.sequence).toBe(last + 1);
    ({ sequence: last, segment } = journal.state.tail);
  }
  await journal.close();
});
