import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { digestWords } from '../../../src/storage/commit/records.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { type Exposure, exposuresKey, readExposures, rowsPerPerson } from '../../../src/storage/lmdb/exposures.ts';
import { digestIdentity } from '../../../src/storage/lmdb/instances.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const start = 1_800_000_000;
const computeDigest = (identity: string) => digestIdentity(Buffer.alloc(32), 1, identity);

function readRows(store: UsageTables, environment: number, identity: string): Map<number, Exposure> | undefined {
  store.exposures.resetReadTxn();
  return readExposures(store, exposuresKey(environment, computeDigest(identity)))?.rows;
}

/** Creates a batch of one packet, in which a person checks each ordinal once. */
function createPacket(identity: string, environment: number, ordinals: readonly number[], seconds = start): Batch {
  const batch = new Batch();
  batch.exposures.addPerson(digestWords(computeDigest(identity)));
  for (const ordinal of ordinals) batch.exposures.add(seriesRef(environment, ordinal), seconds, 1, 0, 0);
  return batch;
}

test('exposures have the sums of many commits, even if the store is reopened or a person is forgotten', async () => {
  const exposure = fc.record({
    ordinal: fc.integer({ min: 0, max: 3 }),
    counts: fc.tuple(fc.nat(), fc.nat(), fc.nat()),
  });
  const packet = fc.record({
    identity: fc.constantFrom('ann', 'bob', '__proto__', '🙂'),
    environment: fc.constantFrom(1, 2),
    exposures: fc.array(exposure, { maxLength: 6 }),
  });
  const step = fc.record({
    packets: fc.array(packet, { maxLength: 8 }),
    forget: fc.option(fc.constantFrom('ann', 'bob'), { freq: 4, nil: undefined }),
    reopen: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      const data = temporaryDirectory();
      let store = openUsageTables(data);
      let { write } = createAggregator(store);
      const model = new Map<string, Map<number, Exposure>>();
      let seconds = start;
      for (const { packets, forget, reopen } of steps) {
        const batch = new Batch();
        for (const { identity, environment, exposures } of packets) {
          seconds += 40_000;
          batch.exposures.addPerson(digestWords(computeDigest(identity)));
          for (const { ordinal, counts } of exposures) {
            batch.exposures.add(seriesRef(environment, ordinal), seconds, ...counts);
            const rows = model.get(`${environment}/${identity}`) ?? new Map<number, Exposure>();
            const row = rows.get(ordinal) ?? { firstSeen: seconds, checks: 0, used: 0, viewed: 0 };
            model.set(`${environment}/${identity}`, rows);
            rows.set(ordinal, {
              firstSeen: row.firstSeen,
              lastSeen: seconds,
              checks: row.checks + counts[0],
              used: row.used + counts[1],
              viewed: row.viewed + counts[2],
            });
          }
        }
        if (forget !== undefined) {
          batch.forgotten.push({ application: 1, environments: [1, 2], digest: computeDigest(forget).toString('hex') });
          for (const environment of [1, 2]) model.delete(`${environment}/${forget}`);
        }
        write(batch.seal());
        if (!reopen) continue;
        await store.lmdb.close();
        store = openUsageTables(data);
        ({ write } = createAggregator(store));
      }
      for (const environment of [1, 2, 3]) {
        for (const identity of ['ann', 'bob', '__proto__', '🙂']) {
          expect(readRows(store, environment, identity)).toEqual(model.get(`${environment}/${identity}`));
        }
      }
      await store.lmdb.close();
    }),
    { numRuns: 40 },
  );
});

test('people beyond the limit of an environment have no exposures', async () => {
  const store = temporaryUsage();
  const { write } = createAggregator(store, 2);
  for (const identity of ['a', 'b', 'c']) write(createPacket(identity, 1, [0]).seal());
  write(createPacket('c', 2, [0]).seal());
  write(createPacket('a', 1, [1]).seal());
  expect(['a', 'b', 'c'].map((identity) => readRows(store, 1, identity)?.size)).toEqual([2, 1, undefined]);
  expect(readRows(store, 2, 'c')?.size).toBe(1);

  const forgetting = new Batch();
  forgetting.forgotten.push({ application: 1, environments: [1], digest: computeDigest('a').toString('hex') });
  write(forgetting.seal());
  write(createPacket('c', 1, [0]).seal());
  write(createPacket('d', 1, [0]).seal());
  expect(['a', 'c', 'd'].map((identity) => readRows(store, 1, identity)?.size)).toEqual([undefined, 1, undefined]);
});

test('the number of rows of a person is limited, and existing rows still count', async () => {
  const store = temporaryUsage();
  const { write } = createAggregator(store);
  write(createPacket('a', 1, [...Array(rowsPerPerson + 10).keys()]).seal());
  write(createPacket('a', 1, [0, rowsPerPerson]).seal());
  const rows = readRows(store, 1, 'a');
  expect(rows?.size).toBe(rowsPerPerson);
  expect(rows?.get(0)?.checks).toBe(2);
  expect(rows?.has(rowsPerPerson)).toBe(false);
});

test('a failed batch adds no exposures', async () => {
  const store = temporaryUsage();
  const { write } = createAggregator(store);
  const envelope = createPacket('a', 1, [0]).seal();
  const broken = { ...envelope, forgotten: [undefined as never] };
  expect(() => write(broken)).toThrow();
  expect(readRows(store, 1, 'a')).toBeUndefined();
  write(envelope);
  expect(readRows(store, 1, 'a')?.get(0)?.checks).toBe(1);
});

test('the limit of people also applies within one transaction', async () => {
  const store = temporaryUsage();
  const { fold } = createAggregator(store, 2);
  const people = ['d', 'c', 'b', 'a'];
  fold(
    'people',
    people.map((identity) => createPacket(identity, 1, [0]).seal()),
    () => {},
  );
  expect(people.map((identity) => readRows(store, 1, identity)?.size)).toEqual([1, 1, undefined, undefined]);
});

test('a transaction adds up the exposures of thousands of people from several batches', async () => {
  const store = temporaryUsage();
  const { fold } = createAggregator(store);
  const people = Array.from({ length: 3_000 }, (_, at) => `person-${at}`);
  const batchAt = (seconds: number) => {
    const batch = new Batch();
    for (const identity of people) {
      batch.exposures.addPerson(digestWords(computeDigest(identity)));
      for (const ordinal of [0, 1]) batch.exposures.add(seriesRef(1, ordinal), seconds, 1, 0, 2);
    }
    return batch.seal();
  };
  for (const seconds of [start, start + 20]) {
    fold('people', [batchAt(seconds), batchAt(seconds + 10)], () => {});
  }
  const row = { firstSeen: start, lastSeen: start + 30, checks: 4, used: 0, viewed: 8 };
  const expected = new Map([
    [0, row],
    [1, row],
  ]);
  for (const identity of people) expect(readRows(store, 1, identity)).toEqual(expected);
});
