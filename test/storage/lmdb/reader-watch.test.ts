import { expect, test } from 'vitest';
import { fromSnapshot } from '../../../src/storage/lmdb/snapshot.ts';
import { oldestReader, ReaderWatch } from '../../../src/storage/lmdb/store-health.ts';
import { finish } from '../../support/finish.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

function open() {
  const store = temporaryUsage();
  const value = (number: number) => Buffer.from([number]);
  const key = Buffer.from('key');
  const put = (number: number) => store.lmdb.transactionSync(() => store.seen.putSync(key, value(number)));
  put(0);
  return { store, put, read: () => store.seen.get(key)?.[0] };
}

test('a lasting reader is reported with its age, and logged once', () => {
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

test('a snapshot does not change while it is read with pauses, and other reads see new data', () => {
  const { store, put, read } = open();
  const value = (at: Parameters<Parameters<typeof fromSnapshot>[1]>[0]) =>
    [...store.seen.getRange({ transaction: at })].map((entry) => entry.value[0]);
  const seen: unknown[] = [];
  const reading = fromSnapshot(store.lmdb, function* (at) {
    for (let turn = 0; turn < 3; turn += 1) {
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
