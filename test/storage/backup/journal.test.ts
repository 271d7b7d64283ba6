import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { handleFoldRequests, requestFold } from '../../../src/storage/backup/fold-requests.ts';
import { restore } from '../../../src/storage/backup/restore.ts';
import { foldJournals } from '../../../src/storage/commit/fold-journals.ts';
import { endJournals } from '../../../src/storage/commit/start-committers.ts';
import { areJournalsEmpty } from '../../../src/storage/journal/directory.ts';
import { getJournalsDirectory } from '../../../src/storage/journal/place.ts';
import { readJournalId, readLayout, usageLayout } from '../../../src/storage/lmdb/layout.ts';
import { openLmdb } from '../../../src/storage/lmdb/lmdb.ts';
import { lockDataDirectory } from '../../../src/storage/lmdb/lock.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { startTestCommitters } from '../../support/committers.ts';
import { BatchFiller } from '../../support/random-batches.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { backUp, everythingIn, filledDirectory, findingsIn, steady } from './data-directory.ts';

const people = 100_000;

/** Opens a directory with a server that folds only on demand. `accept` commits a batch with a person. */
async function serving(workers = 1) {
  const data = filledDirectory();
  const lock = lockDataDirectory(data);
  const store = openUsageTables(data);
  // A timer of one second would start folds that no backup has requested, so such timers never fire.
  const after = (ms: number, callback: () => void) => void (ms < 1000 && setImmediate(callback));
  const committers = await startTestCommitters(store, data, { workers, clock: { ...systemClock, after } });
  const filler = new BatchFiller();
  const entry = { ordinal: 30, bucket: 6_000_000, minute: 100_000, value: 1, user: 7 };
  const accept = (lane = 0) => {
    const entries = [{ ...entry, environment: 3 + lane, counts: [1, 0, 0] as [number, number, number] }];
    const packet = { entries, once: false, person: 'ann' as const, unknown: true };
    return committers[lane]!.commit(filler.fill([packet], 1_800_000_000).seal());
  };
  const stop = async () => {
    for (const each of committers) await each.close();
    endJournals(store.lmdb, usageLayout, committers);
    await store.lmdb.close();
    lock.release();
  };
  const fold = () => Promise.all(committers.map((each) => each.fold()));
  return { data, committers, accept, fold, stop };
}

/**
 * Creates the directory of a server that was killed after accepting batches on each lane and before folding the
 * batches.
 */
async function killed(workers = 1): Promise<string> {
  const { data, committers, accept, stop } = await serving(workers);
  for (const lane of committers.keys()) await accept(lane);
  const copy = join(temporaryDirectory(), 'killed');
  cpSync(data, copy, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') });
  await stop();
  return copy;
}

/** Returns the state of a directory after the next start of a server, which only folds the journal. */
async function replayed(data: string): Promise<string[]> {
  const copy = join(temporaryDirectory(), 'replayed');
  cpSync(data, copy, { recursive: true });
  const store = openUsageTables(copy);
  const committers = await startTestCommitters(store, copy, { workers: 2 });
  for (const each of committers) await each.close();
  await store.lmdb.close();
  return everythingIn(copy);
}

/** Returns the layout number of a usage store, and true if the store refers to a journal. */
async function readState(data: string) {
  const lmdb = openLmdb(join(data, 'usage'));
  const state = { layout: readLayout(lmdb), hasJournal: readJournalId(lmdb) !== undefined };
  await lmdb.close();
  return state;
}

const segmentIn = (data: string) => {
  const lane = join(getJournalsDirectory(data), '1');
  return join(lane, readdirSync(lane).find((name) => name.endsWith('.segment'))!);
};

test('a backup of a running server contains everything that the server accepted before the backup began', async () => {
  const { data, accept, fold, stop } = await serving();
  const file = join(dirname(data), 'backup');
  for (let each = 0; each < 3; each += 1) await accept();
  let isOver = false;
  const backingUp = backUp(data, file).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await handleFoldRequests(data, fold);
    await new Promise(setImmediate);
  }
  await backingUp;
  expect(readdirSync(getJournalsDirectory(data))).toEqual(['1']);
  await stop();
  const target = temporaryDirectory();
  await restore(file, target, steady);
  expect(await everythingIn(target)).toEqual(await everythingIn(data));
});

test('a restored directory has no journal frames, and a server begins a new journal in it', async () => {
  const { data, accept, fold, stop } = await serving();
  const file = join(dirname(data), 'backup');
  await accept();
  await fold();
  // The people of batches accepted during the backup are folded later.
  const answering = async () => {
    await fold();
    await accept();
  };
  const backingUp = backUp(data, file);
  await handleFoldRequests(data, answering);
  await backingUp;
  await stop();
  const target = join(temporaryDirectory(), 'target');
  const lock = lockDataDirectory(target);
  await restore(file, target, steady);
  lock.release();
  expect(readdirSync(target).sort()).toEqual(['accounts', 'usage']);
  expect(await readState(target)).toEqual({ layout: 2, hasJournal: false });
  expect(await findingsIn(target)).toMatchObject({ isSound: true });
  const store = openUsageTables(target);
  const [committer] = await startTestCommitters(store, target);
  await committer!.commit(new BatchFiller().fill([], 0).seal());
  await committer!.fold();
  expect(committer!.unfolded.frames).toBe(0);
  await committer!.close();
  await store.lmdb.close();
});

test('a backup fails and removes its fold request if the server does not fold the journal in time', async () => {
  const { data, accept, stop } = await serving();
  await accept();
  let now = 0;
  const clock = { monotonic: () => now };
  const pause = async (ms: number) => {
    now += ms;
  };
  await expect(requestFold(data, steady, clock, pause)).rejects.toThrow(
    `Cannot back up ${data}: its server did not fold its journal within 60 s; see its log and GET /readyz and try again, or stop it first`,
  );
  expect(readdirSync(getJournalsDirectory(data))).toEqual(['1']);
  await stop();
});

test('a backup succeeds if the server folds its journal and then stops', async () => {
  const { data, accept, stop } = await serving();
  await accept();
  await requestFold(data, steady, { monotonic: () => 0 }, stop);
  expect(areJournalsEmpty(data)).toBe(true);
});

test('a backup fails if the server is killed during the backup', async () => {
  await expect(requestFold(await killed(), steady)).rejects.toThrow('its server stopped and left packets in');
});

test.each([1, 2])(
  'foldJournals folds the journal of each lane if no server runs, as the next startup would (lanes: %i)',
  async (lanes) => {
    const data = await killed(lanes);
    const expected = await replayed(data);
    expect(await everythingIn(data)).not.toEqual(expected);
    expect((await readState(data)).layout).toBe(usageLayout.journalled);
    await foldJournals(data, people);
    expect(await everythingIn(data)).toEqual(expected);
    expect(areJournalsEmpty(data)).toBe(true);
    expect((await readState(data)).layout).toBe(2);
    expect(await findingsIn(data)).toMatchObject({ isSound: true });
  },
);

test('a directory whose journal is missing is reported, and foldJournals leaves the directory unchanged', async () => {
  const data = await killed();
  rmSync(getJournalsDirectory(data), { recursive: true });
  const { isSound, findings } = await findingsIn(data);
  expect(isSound).toBe(false);
  expect(findings.at(-1)).toBe(
    `${getJournalsDirectory(data)}: missing: the packets of the last seconds before the server ended are lost`,
  );
  await expect(foldJournals(data, people)).rejects.toThrow(
    `${getJournalsDirectory(data)} is missing. Put the directory back.`,
  );
  expect((await readState(data)).layout).toBe(usageLayout.journalled);
});

const missing = (data: string) =>
  `Cannot read journal ${getJournalsDirectory(data)}/1: its segments are missing. Put the segments back`;

test('a journal without its segments is reported, but is neither folded nor begun again', async () => {
  const data = await killed();
  for (const name of readdirSync(join(getJournalsDirectory(data), '1')))
    rmSync(join(getJournalsDirectory(data), '1', name));
  const { isSound, findings } = await findingsIn(data);
  expect(isSound).toBe(false);
  expect(findings.at(-1)).toContain(missing(data));
  await expect(foldJournals(data, people)).rejects.toThrow(missing(data));
  const store = openUsageTables(data);
  await expect(startTestCommitters(store, data)).rejects.toThrow(missing(data));
  await store.lmdb.close();
  expect((await readState(data)).layout).toBe(usageLayout.journalled);
});

test.each([
  ['has accepted nothing', false],
  ['has only folded the packets of the previous server', true],
])('a killed server that %s leaves a sound journal without segments', async (_, isSecond) => {
  const first = isSecond ? await killed() : filledDirectory();
  const store = openUsageTables(first);
  const [committer] = await startTestCommitters(store, first);
  const copy = join(temporaryDirectory(), 'killed');
  cpSync(first, copy, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') });
  await committer!.close();
  await store.lmdb.close();
  expect(areJournalsEmpty(copy)).toBe(true);
  expect(await findingsIn(copy)).toMatchObject({ isSound: true });
  await foldJournals(copy, people);
});

test('a server starts without the journal of one lane, and loses only the frames of that journal', async () => {
  const { data, committers, accept, stop } = await serving();
  await accept();
  await committers[0]!.fold('any'); // The store has the counts of this frame, but not its people.
  await accept();
  await committers[0]!.fold('any');
  const copy = join(temporaryDirectory(), 'killed');
  cpSync(data, copy, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') });
  await stop();
  rmSync(join(getJournalsDirectory(copy), '1'), { recursive: true });
  const store = openUsageTables(copy);
  const [committer] = await startTestCommitters(store, copy);
  await committer!.commit(new BatchFiller().fill([], 0).seal());
  await committer!.fold();
  await committer!.close();
  expect(committer!.unfolded.frames).toBe(0);
  await store.lmdb.close();
});

test('verify reports how many frames are missing from the store, and changes nothing', async () => {
  const data = await killed(2);
  const before = readFileSync(segmentIn(data));
  const { isSound, findings } = await findingsIn(data);
  expect(isSound).toBe(true);
  const lane = (number: number) =>
    expect.stringMatching(
      new RegExp(
        `^${getJournalsDirectory(data)}/${number}: in order, 1 frame \\([\\d.]+ KiB\\) not yet in the store; `,
      ),
    );
  expect(findings.slice(-2)).toEqual([lane(1), lane(2)]);
  expect(readFileSync(segmentIn(data)).equals(before)).toBe(true);
});

const flipAt = (file: string, offset: number) => {
  const bytes = readFileSync(file);
  bytes[offset]! ^= 1;
  writeFileSync(file, bytes);
};

test('verify reports a damaged frame with the file, the offset and the remedy', async () => {
  const { data, accept, stop } = await serving();
  await accept();
  await accept();
  const copy = join(temporaryDirectory(), 'killed');
  cpSync(data, copy, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') });
  await stop();
  const segment = segmentIn(copy);
  flipAt(segment, 4096 + 20);
  const found = await findingsIn(copy);
  expect(found.isSound).toBe(false);
  const at = `Cannot read journal segment ${segment} at offset 4096: frame 1 is damaged, and frame 2 follows`;
  expect(found.findings.at(-1)).toContain(`${at}. Restore a backup.`);
});

test('verify reports a journal of another data directory', async () => {
  const data = await killed();
  const other = await killed();
  cpSync(getJournalsDirectory(other), getJournalsDirectory(data), { recursive: true });
  expect((await findingsIn(data)).findings.at(-1)).toContain('it belongs to another data directory');
});

test('a restore into a directory with a journal is refused', async () => {
  const data = filledDirectory();
  const file = join(dirname(data), 'backup');
  await backUp(data, file);
  const target = await killed();
  for (const store of ['accounts', 'usage']) rmSync(join(target, store), { recursive: true });
  await expect(restore(file, target, steady)).rejects.toThrow(`it has data (${getJournalsDirectory(target)})`);
  expect(existsSync(segmentIn(target))).toBe(true);
});
