import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/runtime/log.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { CommitError } from '../../../src/storage/commit/committer.ts';
import { Intake } from '../../../src/storage/commit/intake.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { oldestReader, StoreHealth } from '../../../src/storage/lmdb/store-health.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { startTestCommitters } from '../../support/committers.ts';
import { roomyLimits, undelayed } from '../../support/roomy-intake.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const clock = { now: () => 0, monotonic: () => 0 };
const sleeper = new Int32Array(new SharedArrayBuffer(4));

test('commits complete even while one iteration blocks the event loop', async () => {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  const log = createLog('error', () => {}, clock);
  const health = new StoreHealth({ log, data, clock: { after: () => {} }, fatal: () => {} });
  const intake = new Intake(await startTestCommitters(store, data), health, undelayed(clock), {
    ...roomyLimits,
    batchPackets: 128,
  });
  let immediates = 0;
  setImmediate(() => {
    immediates += 1;
  });
  const settled = new Set<Promise<void>>();
  for (let n = 0; n < 3 * 128; n += 1) {
    const durable = intake.findLane(0).submit(0, () => {});
    void durable.then(() => settled.add(durable));
  }
  // The loop takes at most ten seconds. Because it awaits only settled promises, no event is delivered.
  for (let n = 0; n < 10_000 && settled.size < 3; n += 1) {
    Atomics.wait(sleeper, 0, 0, 1);
    intake.collect();
    for (let ticks = 0; ticks < 20; ticks += 1) await Promise.resolve();
  }
  expect({ turns: immediates, commits: intake.commits, answered: settled.size }).toEqual({
    turns: 0,
    commits: 3,
    answered: 3,
  });
  await intake.close();
  await store.lmdb.close();
});

test('a batch that cannot be folded stops the service, and the next startup reports the frame of the batch', async () => {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  const stopped: string[] = [];
  const log = createLog('error', () => {}, clock);
  const health = new StoreHealth({
    log,
    data,
    clock: { after: () => {} },
    fatal: (reason) => void stopped.push(reason),
  });
  const committers = await startTestCommitters(store, data, { failed: (error) => health.failed(error) });
  const intake = new Intake(committers, health, undelayed(clock), { ...roomyLimits, batchPackets: 10 });
  await intake.findLane(0).submit(0, (batch) => batch.counts.add(seriesRef(1, 0), 4, 1, 0, 0));
  await expect(committers[0]!.fold()).rejects.toThrow('a new series comes with its name');
  expect({ stopped, ready: health.ready }).toEqual({ stopped: ['the store failed'], ready: false });
  await intake.close();
  await expect(startTestCommitters(store, data)).rejects.toThrow(
    /Cannot fold frame 1, which ends at offset \d+ of .*journal\/1\/0000000001\.segment: .*name/,
  );
  await store.lmdb.close();
});

test('the folding thread keeps no reader of the store open between its tasks', async () => {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  const [committer] = await startTestCommitters(store, data);
  expect(oldestReader(store.lmdb)).toBeUndefined();
  await committer!.close();
  await store.lmdb.close();
});

// Without this check at startup, connections could use up the file descriptors before the thread needs them.
test('startup fails if the folding thread cannot open the store', async () => {
  const store = temporaryUsage();
  const data = temporaryDirectory();
  writeFileSync(join(data, 'usage'), 'not a directory');
  await expect(startTestCommitters(store, data)).rejects.toThrow(CommitError);
});

test('a commit fails if the journal cannot create its first segment', async () => {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  mkdirSync(join(data, 'journal/1/first.tmp'), { recursive: true }); // The temporary name of the first segment.
  const [committer] = await startTestCommitters(store, data);
  await expect(committer!.commit(new Batch().seal())).rejects.toThrow(CommitError);
  await committer!.close();
  await store.lmdb.close();
});
