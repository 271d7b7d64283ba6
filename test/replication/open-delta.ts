import type {
  CountedMessage,
  Delta,
  DeltaHead,
  PersonExposures,
  UnresolvedInstance,
} from '../../src/replication/delta.ts';
import { Chunk, createCoupon, getChunkNumber } from '../../src/storage/aggregate/hyperloglog.ts';
import { addCounts, addValue } from '../../src/storage/aggregate/merge.ts';
import type { Envelope } from '../../src/storage/commit/envelope.ts';
import { eachCount, eachExposure, eachMeasurement, eachUser } from '../../src/storage/commit/records.ts';
import { countsCodec, decodeMinute, measurementCodec, seriesPerEnvironment } from '../../src/storage/lmdb/blocks.ts';
import type { HashedId } from '../../src/storage/lmdb/instances.ts';
import { chunkValueBytes, environmentOrdinal, writeChunk } from '../../src/storage/lmdb/sketches.ts';

/** A delta that is filled from batches, cell by cell, without a spool. Supports only what the format requires. */
export class OpenDelta {
  readonly #content = {
    series: [] as Delta['series'][number][],
    senders: [] as Delta['senders'][number][],
    ledger: [] as Delta['ledger'][number][],
    messages: [] as CountedMessage[],
    unresolved: [] as UnresolvedInstance[],
    cumulative: [] as Delta['cumulative'][number][],
    totals: [] as Delta['totals'][number][],
  };
  readonly #counts = new Map<string, { row: [number, number]; cell: ReturnType<typeof countsCodec.empty> }>();
  readonly #values = new Map<string, { row: [number, number]; cell: ReturnType<typeof measurementCodec.empty> }>();
  readonly #chunks = new Map<string, { row: [number, number, number]; chunk: Chunk }>();
  readonly #seen = new Map<number, [first: number, last: number]>();
  readonly #people: PersonExposures[] = [];

  /** Adds a batch, which must not have separate content (`Envelope.apart`). */
  add(envelope: Envelope): void {
    this.#addNames(envelope);
    eachCount(envelope, (ref, bucket, ...counts) => {
      this.#noteSeen(ref, decodeMinute(bucket));
      const known = this.#counts.get(`${ref} ${bucket}`) ?? { row: [ref, bucket], cell: countsCodec.empty() };
      this.#counts.set(`${ref} ${bucket}`, known);
      addCounts(known.cell, ...counts);
    });
    eachMeasurement(envelope, (ref, bucket, value, at) => {
      this.#noteSeen(ref, decodeMinute(bucket));
      const name = `${ref} ${bucket}`;
      const known = this.#values.get(name) ?? { row: [ref, bucket], cell: measurementCodec.empty() };
      this.#values.set(name, known);
      addValue(known.cell, value, at);
    });
    eachUser(envelope, (ref, minute, high, low) => {
      this.#noteSeen(ref, minute);
      const coupon = createCoupon(high, low);
      const row = [ref, Math.floor(minute / 1440), getChunkNumber(coupon)] as [number, number, number];
      const known = this.#chunks.get(row.join()) ?? { row, chunk: new Chunk() };
      this.#chunks.set(row.join(), known);
      known.chunk.add(coupon);
    });
    this.#people.push(...readExposures(envelope));
  }

  /** Adds a batch as one message that counts once. */
  addMessage(identity: Uint8Array, at: number, envelope: Envelope): void {
    this.#addNames(envelope);
    const counts: number[] = [];
    const measurements: number[] = [];
    const users: number[] = [];
    eachCount(envelope, (...row) => counts.push(...row));
    eachMeasurement(envelope, (...row) => measurements.push(...row.slice(0, 4)));
    eachUser(envelope, (...row) => users.push(...row.slice(0, 4)));
    const rows = { counts, measurements, users };
    const message = { identity, at, ...rows, exposures: readExposures(envelope), unresolved: [] };
    this.#content.messages.push(message);
  }

  /** Adds cumulative messages and running totals of a batch. */
  addCumulative(envelope: Envelope): void {
    this.#addNames(envelope);
    this.#content.cumulative.push(...envelope.cumulative);
    this.#content.totals.push(...envelope.totals);
  }

  /** Adds a batch with an instance id unknown to the node. */
  addUnresolved(id: HashedId, seconds: number, envelope: Envelope): void {
    this.add({ ...envelope, users: undefined, exposures: undefined });
    const minutes = new Map<number, number>();
    eachUser(envelope, (ref, minute) => void minutes.set(ref, minute));
    const rows: number[] = [];
    let environment = 0;
    eachExposure(envelope, {
      person: () => {},
      exposure: (ref, _seconds, ...counts) => {
        rows.push(ref, minutes.get(ref)!, ...counts);
        minutes.delete(ref);
      },
    });
    for (const [ref, minute] of minutes) {
      environment = Math.floor(ref / seriesPerEnvironment);
      rows.push(ref, minute, 0, 0, 0);
    }
    this.#content.unresolved.push({ ...id, environment, seconds, rows });
  }

  seal(head: DeltaHead): Delta {
    return {
      ...head,
      ...this.#content,
      counts: [...this.#counts.values()].flatMap(({ row, cell }) => [...row, cell.checks, cell.used, cell.viewed]),
      measurements: [...this.#values.values()].flatMap(({ row, cell: { sum, count, last, lastAt, min, max } }) => {
        return [...row, sum, count, last, lastAt, min, max];
      }),
      sketches: [...this.#chunks.values()].map(({ row: [ref, day, chunk], chunk: { content } }) => {
        const value = Buffer.alloc(chunkValueBytes);
        return { ref, day, chunk, value: value.subarray(0, writeChunk(value, content)) };
      }),
      seen: [...this.#seen].flatMap(([ref, [first, last]]) => [ref, first, last]),
      exposures: this.#people,
      uses: [],
    };
  }

  #addNames({ series, senders, ledger }: Envelope): void {
    this.#content.series.push(...series);
    this.#content.ledger.push(...ledger);
    for (const { slot, environment, ordinal, sender } of senders)
      this.#content.senders.push({ environment, ordinal, ...sender, first: slot, last: slot });
  }

  #noteSeen(ref: number, minute: number): void {
    if (ref % seriesPerEnvironment === environmentOrdinal) return;
    const [first, last] = this.#seen.get(ref) ?? [minute, minute];
    this.#seen.set(ref, [first, Math.max(last, minute)]);
  }
}

/** Returns the exposures of a batch, one entry per packet. */
function readExposures(envelope: Envelope): PersonExposures[] {
  const people: PersonExposures[] = [];
  let digest = Buffer.alloc(0);
  let rows: number[] = [];
  eachExposure(envelope, {
    person(next) {
      digest = Buffer.from(next);
      rows = [];
    },
    exposure(ref, seconds, ...counts) {
      const environment = Math.floor(ref / seriesPerEnvironment);
      if (rows.length === 0) people.push({ environment, digest, rows });
      rows.push(ref % seriesPerEnvironment, seconds, seconds, ...counts);
    },
  });
  return people;
}
