import fc from 'fast-check';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { digestIdentity, newInstanceId } from '../../src/storage/lmdb/instances.ts';
import { encodeDimensions } from '../../src/storage/lmdb/ledger.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';

/** Environments of the batches. There are few series, people and messages, so that batches often share them. */

export const testEnvironments = [3, 4];
const ordinals = fc.integer({ min: 29, max: 34 });
const environment = fc.constantFrom(...testEnvironments);
const minute = fc.integer({ min: 100_000, max: 100_003 });
const bucket = fc
  .tuple(fc.constantFrom(...Object.values(bucketWidth)), minute)
  .map(([width, at]) => encodeBucket(width, at));
const counts = fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9));

const record = fc.record({
  environment,
  ordinal: ordinals,
  bucket,
  minute,
  counts,
  value: fc.integer(),
  user: fc.nat(40),
});
type Entry = typeof record extends fc.Arbitrary<infer T> ? T : never;

export const packet = fc.record({
  entries: fc.array(record, { maxLength: 6 }),
  /** True for a packet that must be counted only once, however often it is sent. */
  once: fc.boolean(),
  person: fc.option(fc.constantFrom('ann', 'bob', 'eve'), { nil: undefined }),
  unknown: fc.boolean(),
});
export type TestPacket = typeof packet extends fc.Arbitrary<infer T> ? T : never;

/** Fills batches. The first batch that refers to a name also contains that name, as the dictionary requires. */
export class BatchFiller {
  readonly #named = new Set<number>();
  #clock = 0;

  /** @param at time of the batch (Unix seconds), also used as the time when a person was shown a variant */
  fill(packets: readonly TestPacket[], at: number): Batch {
    const batch = new Batch();
    for (const each of packets) {
      const from = batch.extent;
      this.#add(batch, each, at);
      this.#clock += 1;
      if (each.once) batch.messages.add([1, 2, 3, this.#clock], 1_000_000 + this.#clock, from, batch.extent);
    }
    return batch;
  }

  #add(batch: Batch, { entries, person, unknown }: TestPacket, at: number): void {
    const digest = digestIdentity(Buffer.alloc(32), 1, person ?? 'stranger');
    const words = [0, 4, 8, 12].map((place) => digest.readUInt32BE(place)) as [number, number, number, number];
    for (const entry of entries) {
      this.#clock += 1;
      if (person !== undefined) batch.exposures.addPerson(words);
      this.#addEntry(batch, entry, person, at);
    }
    const [first] = entries;
    if (first === undefined) return;
    const subject = encodeDimensions({
      environment: first.environment,
      transport: 'http',
      route: 'telemetry',
      outcome: 'accepted',
      status: 202,
      code: null,
      userAgent: person ?? null,
      instance: null,
    } as never);
    batch.ledger.add({ application: 1, hour: 27, subject }, this.#clock, { detail: `${this.#clock}` });
    const sender = { name: person ?? 'app', version: null, transport: 'http', route: 'telemetry' } as const;
    for (const ordinal of [first.ordinal, environmentOrdinal]) {
      batch.senders.push({ environment: first.environment, ordinal, slot: first.minute, sender });
    }
    if (!unknown) return;
    const instanceId = newInstanceId(digest, (length) => new Uint8Array(length));
    const ref = seriesRef(first.environment, first.ordinal);
    const rows = [ref, first.minute, ...first.counts];
    batch.unresolved.push({ application: 1, environment: first.environment, instanceId, seconds: at, rows });
    batch.uses.push({ application: 1, instanceId, expiresAt: this.#clock });
  }

  #addEntry(batch: Batch, entry: Entry, person: string | undefined, at: number): void {
    const { environment: number, ordinal, user, minute: seen } = entry;
    const ref = this.#ref(batch, number, ordinal, ['feature', `v${ordinal}`]);
    batch.counts.add(ref, entry.bucket, ...entry.counts);
    const metric = this.#ref(batch, number, ordinal + 100, [`metric${ordinal}`]);
    batch.measurements.add(metric, entry.bucket, entry.value, this.#clock);
    if (person === undefined) return;
    batch.exposures.add(ref, at, ...entry.counts);
    for (const each of [ref, seriesRef(number, environmentOrdinal)]) {
      batch.users.add(each, seen, (user * 2_654_435_761) >>> 0, user);
    }
  }

  #ref(batch: Batch, number: number, ordinal: number, name: readonly [string] | readonly [string, string]): number {
    const ref = seriesRef(number, ordinal);
    if (this.#named.has(ref)) return ref;
    this.#named.add(ref);
    batch.series.push({ environment: number, ordinal, name });
    return ref;
  }
}
