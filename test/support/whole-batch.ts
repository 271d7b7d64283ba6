import { Batch } from '../../src/storage/commit/batch.ts';
import { digestBytes, digestWords } from '../../src/storage/commit/records.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { digestIdentity, newInstanceId } from '../../src/storage/lmdb/instances.ts';
import { encodeDimensions } from '../../src/storage/lmdb/ledger.ts';
import { slotMs } from '../../src/storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import type { UsageTables } from '../../src/storage/lmdb/usage.ts';
import { cumulativeMessage, variantRows } from './cumulative.ts';

/** Widths of buckets: minute, hour and day. */
const widths = Object.values(bucketWidth);
const people = ['ann', 'bob', 'eve'];

/**
 * Adds records of an application and an environment to a batch. Every table of the usage store gets some of these
 * records.
 */
export function addWhole(batch: Batch, application: number, environment: number, at: number): void {
  const minute = Math.floor(at / 60_000);
  const names = [['checkout', 'on'], ['checkout', ''], ['amount'], ['amount', 'checkout', 'on']] as const;
  for (const [index, name] of names.entries()) {
    // The ordinals are far apart, so that the records are in several blocks.
    const ordinal = index * 40;
    batch.series.push({ environment, ordinal, name });
    const ref = seriesRef(environment, ordinal);
    for (const width of widths) {
      if (name.length === 2) batch.counts.add(ref, encodeBucket(width, minute), 1, 1, 1);
      else batch.measurements.add(ref, encodeBucket(width, minute), 1, at);
    }
    for (let user = 0; user < 50; user += 1) {
      batch.users.add(ref, minute, user * 7_654_321, user * 1_234_567);
    }
  }
  for (const person of people) addPerson(batch, application, environment, person, at);
  batch.messages.add([environment, environment, environment, environment], at);
  const identity = digestBytes(environment, environment, environment, 0);
  batch.addCumulative(cumulativeMessage(at, variantRows([[seriesRef(environment, 0), 1]]), { identity, subject: '' }));
  batch.totals.push({
    application,
    digest: Buffer.alloc(16, environment),
    ref: seriesRef(environment, 0),
    value: 1,
    at,
    bucket: encodeBucket(bucketWidth.minute, minute),
    received: at,
    fresh: 1,
  });
  addToLedger(batch, application, environment, at);
  const sender = { name: 'app', version: '1', transport: 'http', route: 'telemetry' } as const;
  for (const ordinal of [0, environmentOrdinal]) {
    batch.senders.push({ environment, ordinal, slot: Math.floor(at / slotMs), sender });
  }
}

function addPerson(batch: Batch, application: number, environment: number, person: string, at: number): void {
  const digest = digestIdentity(Buffer.alloc(32), application, person);
  batch.exposures.addPerson(digestWords(digest));
  batch.exposures.add(seriesRef(environment, 0), Math.floor(at / 1000), 1, 0, 0);
  const instanceId = newInstanceId(digest, (length) => new Uint8Array(length));
  const life = { expiresAt: at + 1000, graceUntil: at };
  batch.mints.push({ application, instanceId, high: 1, low: 2, profile: '{}', ...life });
}

function addToLedger(batch: Batch, application: number, environment: number, at: number): void {
  const subject = encodeDimensions({
    environment,
    transport: 'http',
    route: 'telemetry',
    outcome: 'accepted',
    status: 202,
    code: null,
    userAgent: null,
    instance: null,
  });
  batch.ledger.add({ application, hour: Math.floor(at / 3_600_000), subject }, at);
}

export function wholeBatch(application: number, environment: number, at: number): Batch {
  const batch = new Batch();
  addWhole(batch, application, environment, at);
  return batch;
}

/** Returns every record of every table as `table key value`. Keys and values are hexadecimal. */
export function dump(store: UsageTables): string[] {
  store.counts.resetReadTxn();
  return Object.entries(store)
    .filter(([table]) => table !== 'lmdb')
    .flatMap(([table, records]: [string, UsageTables['counts']]) =>
      Array.from(records.getRange(), ({ key, value }) => `${table} ${key.toString('hex')} ${value.toString('hex')}`),
    );
}
