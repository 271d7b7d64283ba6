import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Spool } from '../../../src/replication/spool.ts';
import { startSpoolCommitter } from '../../../src/replication/spool-committer.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { getJournalsDirectory, spoolLane } from '../../../src/storage/journal/place.ts';
import { claimedLength, frameSize, headerBlock, segmentNames } from '../../../src/storage/journal/segment.ts';

import { committersStart } from '../../support/committers.ts';
import { BatchFiller } from '../../support/random-batches.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { filledDirectory, findingsIn } from './data-directory.ts';

/** The directory of a node that was killed after accepting three batches and folding the first batch. */
async function killedNode(): Promise<string> {
  const data = filledDirectory();
  const spool = new Spool(data, () => 'directory');
  const watermark = { at: 0, applied: 0, version: 0 };
  const limits = { stream: 'stream', watermark, maxIdentities: 100, maxBytes: 2 ** 30 };
  const after = (ms: number, callback: () => void) => void (ms < 1000 && setImmediate(callback));
  const committer = await startSpoolCommitter(
    spool.store,
    { ...committersStart(data), clock: { ...systemClock, after } },
    limits,
  );
  const place = { environment: 3, ordinal: 30, bucket: 6_000_000, minute: 100_000 };
  const entry = { ...place, value: 1, user: 7, counts: [1, 0, 0] as [number, number, number] };
  const packet = { entries: [entry], once: false, person: undefined, unknown: false };
  const filler = new BatchFiller();
  const accept = () => committer.commit(filler.fill([packet], 1_800_000_000).seal());
  await accept();
  await committer.seal({ watermark });
  await accept();
  await accept();
  const copy = join(temporaryDirectory(), 'killed');
  cpSync(data, copy, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') });
  await committer.close();
  await spool.close();
  return copy;
}

const getJournal = (data: string) => join(getJournalsDirectory(data), spoolLane);

/** Returns the path of the only segment. */
const findSegment = (data: string) => {
  const [name] = segmentNames(readdirSync(getJournal(data)));
  return join(getJournal(data), name!);
};

test('verify reports how many frames are missing from the spool', async () => {
  const data = await killedNode();
  const { isSound, findings } = await findingsIn(data);
  expect(isSound).toBe(true);
  expect(findings.at(-1)).toMatch(/journal\/spool: in order, 2 frames \([\d.]+ KiB\) not yet in the store; /);
});

test('verify reports damage to the journal of a spool', async () => {
  const data = await killedNode();
  const segment = findSegment(data);
  const sound = readFileSync(segment);
  const second = headerBlock + frameSize(claimedLength(sound.subarray(headerBlock)));
  const harmed = Buffer.from(sound);
  harmed[second + 20]! ^= 1;
  writeFileSync(segment, harmed);
  const damaged = await findingsIn(data);
  expect(damaged.isSound).toBe(false);
  expect(damaged.findings.at(-1)).toContain(
    `Cannot read journal segment ${segment} at offset ${second}: frame 2 is damaged, and frame 3 follows`,
  );
  rmSync(segment);
  expect((await findingsIn(data)).findings.at(-1)).toContain(
    `Cannot read journal ${getJournal(data)}: its segments are missing`,
  );
  rmSync(getJournalsDirectory(data), { recursive: true });
  expect((await findingsIn(data)).findings.at(-1)).toContain(`${getJournal(data)}: missing: `);
});

test('verify reports a damaged file of a spool', async () => {
  const data = await killedNode();
  const file = join(data, 'spool/data.mdb');
  writeFileSync(file, readFileSync(file).subarray(0, 8192));
  const { isSound, findings } = await findingsIn(data);
  expect(isSound).toBe(false);
  expect(findings.at(-1)).toContain(`${file}: `);
});
