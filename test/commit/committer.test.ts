import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CommitFailed, startCommitter } from '../../src/commit/committer.ts';
import { Intake } from '../../src/commit/intake.ts';
import { createLog } from '../../src/log.ts';
import { seriesRef } from '../../src/store/blocks.ts';
import { StoreHealth } from '../../src/store/store-health.ts';
import { roomyLimits } from '../support/roomy-intake.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const workerFile = fileURLToPath(new URL('../../dist/node/commit/worker.js', import.meta.url));
const clock = { now: () => 0, monotonic: () => 0 };
const sleeper = new Int32Array(new SharedArrayBuffer(4));

test('commits follow one another even while the event loop never reaches its next turn', async () => {
  const data = temporaryDirectory();
  const log = createLog('error', () => {}, clock);
  const health = new StoreHealth({ log, data, after: () => {}, fatal: () => {} });
  const intake = new Intake([startCommitter(workerFile, data)], health, clock, {
    ...roomyLimits,
    batchPackets: 128,
  });
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  const answered = new Set<Promise<void>>();
  for (let n = 0; n < 3 * 128; n += 1) {
    const durable = intake.laneOf(0).submit(0, () => {});
    void durable.then(() => answered.add(durable));
  }
  // Ten seconds at most; nothing is awaited but what is settled, so that no event is heard.
  for (let n = 0; n < 10_000 && answered.size < 3; n += 1) {
    Atomics.wait(sleeper, 0, 0, 1);
    intake.collect();
    for (let ticks = 0; ticks < 20; ticks += 1) await Promise.resolve();
  }
  expect({ turns, commits: intake.commits, answered: answered.size }).toEqual({
    turns: 0,
    commits: 3,
    answered: 3,
  });
  await intake.close();
});

test('a batch that a worker finds corrupt is refused, and the service stops as it does for a failing disk', async () => {
  const data = temporaryDirectory();
  const stopped: string[] = [];
  const log = createLog('error', () => {}, clock);
  const health = new StoreHealth({
    log,
    data,
    after: () => {},
    fatal: (reason) => void stopped.push(reason),
  });
  const intake = new Intake([startCommitter(workerFile, data)], health, clock, {
    ...roomyLimits,
    batchPackets: 10,
  });
  const nameless = intake.laneOf(0).submit(0, (batch) => batch.counts.add(seriesRef(1, 0), 4, 1, 0, 0));
  await expect(nameless).rejects.toMatchObject({ code: 'store_unavailable' });
  expect({ stopped, ready: health.ready, failed: intake.failedCommits }).toEqual({
    stopped: ['the store failed'],
    ready: false,
    failed: 1,
  });
  await intake.close();
});

test('a worker that cannot open its store refuses every commit, also those after its end', async () => {
  const committer = startCommitter(workerFile, '/dev/null/nowhere');
  const step = { kind: 'erase', application: 1, environments: [] } as never;
  await expect(committer.maintain(step)).rejects.toThrow(CommitFailed);
  await expect(committer.maintain(step)).rejects.toThrow(CommitFailed);
  await committer.close();
});
