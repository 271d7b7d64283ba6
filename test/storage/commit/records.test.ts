import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AssertionError } from '../../../src/runtime/assert.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import type { Envelope } from '../../../src/storage/commit/envelope.ts';
import { RecordArrays } from '../../../src/storage/commit/record-buffer.ts';
import {
  eachCount,
  eachExposure,
  eachMeasurement,
  eachUser,
  messageChanges,
} from '../../../src/storage/commit/records.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { dump } from '../../support/whole-batch.ts';

const word = fc.nat({ max: 0xffff_ffff });
const digest = fc.tuple(word, word, word, word);
const number = fc.double({ noNaN: true });
const time = fc.nat({ max: 2 ** 45 });
const many = { maxLength: 3000 };

/** The contents of a sealed batch, by kind. */
function readContent(envelope: Envelope) {
  const found: Record<'counts' | 'measurements' | 'users' | 'exposures', unknown[]> = {
    counts: [],
    measurements: [],
    users: [],
    exposures: [],
  };
  eachCount(envelope, (...count) => void found.counts.push(count));
  eachMeasurement(envelope, (ref, bucket, value, at) => void found.measurements.push([ref, bucket, value, at]));
  eachUser(envelope, (ref, minute, high, low) => void found.users.push([ref, minute, high, low]));
  eachExposure(envelope, {
    person: (bytes) => void found.exposures.push(bytes.toString('hex')),
    exposure: (...exposure) => void found.exposures.push(exposure),
  });
  const messages = messageChanges(envelope).map(({ at, identity, forgotten = false, from, to }) => [
    Buffer.from(identity).toString('hex'),
    at,
    forgotten,
    ...(forgotten ? [] : [...from, ...to]),
  ]);
  return { ...found, messages };
}

const hex = (words: readonly number[]) => words.map((each) => each.toString(16).padStart(8, '0')).join('');

test('the worker reads all records of every kind, even if the arrays are reused', () => {
  const arrays = new RecordArrays();
  const added = fc.record({
    counts: fc.array(fc.tuple(word, word, word, word, word), many),
    measurements: fc.array(fc.tuple(word, word, number, time), many),
    users: fc.array(fc.tuple(word, word, word, word), many),
    people: fc.array(fc.tuple(digest, fc.array(fc.tuple(word, word, word, word, word))), { maxLength: 20 }),
    messages: fc.array(fc.tuple(digest, time, fc.boolean()), many),
  });
  fc.assert(
    fc.property(added, ({ counts, measurements, users, people, messages }) => {
      const batch = new Batch(arrays);
      for (const count of counts) batch.counts.add(...count);
      for (const measurement of measurements) batch.measurements.add(...measurement);
      for (const user of users) batch.users.add(...user);
      for (const [person, exposures] of people) {
        batch.exposures.addPerson(person);
        for (const exposure of exposures) batch.exposures.add(...exposure);
      }
      for (const [identity, at, forgotten] of messages) {
        if (forgotten) batch.messages.forget(identity, at);
        else batch.messages.add(identity, at, [1, 2, 3, 4, 5], [6, 7, 8, 9, at]);
      }
      expect(readContent(batch.seal())).toEqual({
        counts,
        measurements,
        users,
        exposures: people.flatMap(([person, exposures]) => [hex(person), ...exposures]),
        messages: messages.map(([identity, at, forgotten]) => [
          ...[hex(identity), at, forgotten],
          ...(forgotten ? [] : [1, 2, 3, 4, 5, 6, 7, 8, 9, at]),
        ]),
      });
      batch.release();
    }),
    { numRuns: 50 },
  );
});

function createBatch(arrays = new RecordArrays()): Batch {
  const batch = new Batch(arrays);
  batch.series.push({ environment: 1, ordinal: 0, name: ['checkout', 'on'] });
  batch.counts.add(seriesRef(1, 0), encodeBucket(bucketWidth.minute, 1000), 1, 0, 0);
  return batch;
}

const misuses: [string, () => unknown, string][] = [
  [
    'gets records after it was sealed',
    () => {
      const batch = createBatch();
      batch.seal();
      batch.counts.add(1, 1, 1, 0, 0);
    },
    'a batch is not added to once it is sealed',
  ],
  [
    'gets its first record after it was sealed',
    () => {
      const batch = new Batch();
      batch.seal();
      batch.users.add(1, 1, 1, 0);
    },
    'a batch is not added to once it is sealed',
  ],
  [
    'is sealed twice',
    () => {
      const batch = createBatch();
      batch.seal();
      batch.seal();
    },
    'a batch is sealed once',
  ],
  [
    'is released while it is filled',
    () => createBatch().release(),
    'the records of a batch that is being filled are not released',
  ],
  ['has exposures without a person', () => new Batch().exposures.add(1, 1, 1, 0, 0), 'an exposure follows its person'],
];

test.each(misuses)('an assertion fails for a batch that %s', (_, misuse, claim) => {
  expect(misuse).toThrow(new AssertionError(claim));
});

const broken: [string, (envelope: Envelope, arrays: RecordArrays, batch: Batch) => Envelope, string][] = [
  [
    'whose array was given to another batch',
    (envelope, arrays, batch) => {
      batch.release();
      createBatch(arrays);
      return envelope;
    },
    'an array of records belongs to the batch that is read',
  ],
  [
    'with more records than its array holds',
    (envelope) => ({ ...envelope, counts: { ...envelope.counts!, records: 10_000 } }),
    'the records of a batch are whole',
  ],
  [
    'with more records than were added',
    (envelope) => ({ ...envelope, counts: { ...envelope.counts!, records: 2 } }),
    'as many records are read as were added',
  ],
  ['without the name of a new series', (envelope) => ({ ...envelope, series: [] }), 'a new series comes with its name'],
];

test.each(broken)('an envelope %s is rejected', async (_, spoil, claim) => {
  const store = temporaryUsage();
  const { write } = createAggregator(store);
  const arrays = new RecordArrays();
  const batch = createBatch(arrays);
  const spoilt = spoil(batch.seal(), arrays, batch);
  expect(() => write(spoilt)).toThrow(new AssertionError(claim));
  expect(dump(store)).toEqual([]);
  write(createBatch().seal());
  expect(dump(store)).not.toEqual([]);
});
