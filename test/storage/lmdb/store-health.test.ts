import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/runtime/log.ts';
import { CommitError } from '../../../src/storage/commit/committer.ts';
import { fromSnapshot } from '../../../src/storage/lmdb/snapshot.ts';
import { CommitWatch, oldestReader, ReaderWatch, StoreHealth } from '../../../src/storage/lmdb/store-health.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

function openHealth(data: string) {
  const lines: string[] = [];
  const ends: string[] = [];
  const waiting: (() => void)[] = [];
  const clock = { now: () => 0, monotonic: () => 0 };
  const health = new StoreHealth({
    log: createLog('info', (line) => void lines.push(line), clock),
    data,
    clock: { after: (_ms, callback) => void waiting.push(callback) },
    fatal: (reason) => void ends.push(reason),
  });
  return { health, lines, ends, waiting };
}

test.each([
  { what: 'ENOSPC', code: 28 },
  { what: 'EDQUOT', code: 122 },
  { what: 'ENOSPC of the file system', code: 'ENOSPC' },
])('the error $what makes the store wait for space, and the store recovers once there is space', ({ code }) => {
  const { health, ends, lines, waiting } = openHealth(temporaryDirectory());
  health.failed(new CommitError('no room', code));
  expect(health.ready).toBe(false);
  expect(ends).toEqual([]);
  waiting.shift()?.();
  expect(health.ready).toBe(true);
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['error', 'info']);
});

test.each(['EMFILE', 'ENFILE', 24, 23])(
  'the error %s makes the store report too many open files, and wait until a file can be opened',
  (code) => {
    const { health, ends, lines, waiting } = openHealth(temporaryDirectory());
    health.failed(new CommitError('too many open files', code));
    expect([health.ready, health.reason]).toEqual([false, 'too many files are open']);
    waiting.shift()?.();
    expect([health.ready, health.reason]).toEqual([true, undefined]);
    expect(ends).toEqual([]);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['error', 'info']);
  },
);

test('the store keeps waiting as long as the disk is full', () => {
  const data = temporaryDirectory();
  const { health, waiting } = openHealth(data);
  health.failed(new CommitError('no room', 28));
  rmSync(data, { recursive: true });
  waiting.shift()?.();
  expect(health.ready).toBe(false);
  expect(waiting).toHaveLength(1);
});

test('a failed commit ends the process once, unless space or file descriptors are missing', () => {
  const { health, ends } = openHealth(temporaryDirectory());
  health.failed(new CommitError('Input/output error', 5));
  health.failed(new CommitError('Input/output error', 5));
  expect(health.ready).toBe(false);
  expect(ends).toEqual(['the store failed']);
});

test.each([
  [1000, [1, 999, 1000, 2500], [1000, 2500]],
  [0, [1, 1e6], []],
])('a threshold of %s ms and commits of %j ms lead to warnings about commits of %j ms', (fromMs, taken, slow) => {
  const lines: unknown[] = [];
  const log = { warn: (msg: string, fields = {}) => void lines.push({ msg, ...fields }) };
  const watch = new CommitWatch('usage', { fromMs, log });
  for (const ms of taken) watch.took(ms, { packets: 7 });
  expect(watch.times.read().count).toBe(taken.length);
  expect(lines).toEqual(slow.map((ms) => ({ msg: 'a commit was slow', store: 'usage', ms, packets: 7 })));
});

function open() {
  const store = temporaryUsage();
  const value = (number: number) => Buffer.from([number]);
  const key = Buffer.from('key');
  const put = (number: number) => store.lmdb.transactionSync(() => store.seen.putSync(key, value(number)));
  put(0);
  return { store, put, read: () => store.seen.get(key)?.[0] };
}

test('a reader that stays open is reported with its age, and logged once', () => {
  const { store, put } = open();
  const warnings: unknown[] = [];
  let now = 0;
  const log = { warn: (_message: string, fields?: object) => void warnings.push(fields) };
  const watch = new ReaderWatch('usage', store.lmdb, { monotonic: () => now }, log);
  const reading = fromSnapshot(store.lmdb, function* () {
    for (;;) yield;
  });
  expect(watch.look()).toEqual({ seconds: 0, commits: 0 });
  reading.next();
  expect(watch.look()).toEqual({ seconds: 0, commits: 0 });
  put(1);
  expect(watch.look()).toEqual({ seconds: 0, commits: 1 });
  put(2);
  for (now of [30_000, 60_000, 70_000]) expect(watch.look()).toEqual({ seconds: now / 1000, commits: 2 });
  expect(warnings).toEqual([{ store: 'usage', seconds: 60, commits: 2 }]);
  reading.return(undefined as never);
  expect(watch.look()).toEqual({ seconds: 0, commits: 0 });
});

test('a snapshot does not change during a read with pauses, and other reads see new data', () => {
  const { store, put, read } = open();
  const value = (at: Parameters<Parameters<typeof fromSnapshot>[1]>[0]) =>
    [...store.seen.getRange({ transaction: at })].map((entry) => entry.value[0]);
  const seen: unknown[] = [];
  const reading = fromSnapshot(store.lmdb, function* (at) {
    for (let round = 0; round < 3; round += 1) {
      seen.push(value(at));
      yield;
    }
  });
  for (const number of [1, 2]) {
    reading.next();
    put(number);
    expect(read()).toBe(number);
  }
  finish(reading);
  expect(seen).toEqual([[0], [0], [0]]);
  store.lmdb.resetReadTxn();
  expect(oldestReader(store.lmdb)).toBeUndefined();
});

test('a failed read closes its snapshot', () => {
  const { store } = open();
  const failing = fromSnapshot(store.lmdb, function* () {
    yield;
    throw new Error('as it happens');
  });
  expect(() => finish(failing)).toThrow('as it happens');
  store.lmdb.resetReadTxn();
  expect(oldestReader(store.lmdb)).toBeUndefined();
});
