import { assert } from '../../runtime/assert.ts';
import type { Measurement } from '../lmdb/blocks.ts';
import { type MessageChange, permanentAt } from '../lmdb/messages.ts';
import type { Envelope } from './envelope.ts';
import { eachRecord, eachRecordIn, RecordBuffer, type RecordRange } from './record-buffer.ts';

/** Reported counts of variants by series (`ref`: see `seriesRef`) and time bucket (see `encodeBucket`). */
export class CountRecords extends RecordBuffer {
  add(ref: number, bucket: number, checks: number, used: number, viewed: number): void {
    this.append(ref, bucket, checks, used, viewed);
  }
}

export function eachCount({ counts, batch, apart }: Envelope, visit: CountRecords['add']): void {
  eachRecord(counts, batch, visit, apart?.counts);
}

/** Reported values of metrics, each with its time `at` (Unix ms), its series and its time bucket. */
export class MeasurementRecords extends RecordBuffer {
  add(ref: number, bucket: number, value: number, at: number): void {
    this.append(ref, bucket, value, at, 0);
  }

  /** Adds a summary of values as three records. Only imported messages have summaries: see `eachSummary`. */
  addSummary(ref: number, bucket: number, { sum, count, last, lastAt, min, max }: Measurement): void {
    this.append(ref, bucket, sum, count, 0);
    this.append(ref, bucket, last, lastAt, 0);
    this.append(ref, bucket, min, max, 0);
  }
}

/** @param imported messages whose summaries are read by `eachSummary` */
export function eachMeasurement(
  { measurements, batch, apart }: Envelope,
  visit: MeasurementRecords['add'],
  imported: readonly BatchMessage[] = [],
): void {
  const summaries = imported.map(({ from, to }): RecordRange => [from[1], to[1]]);
  eachRecord(measurements, batch, visit, apart?.measurements ?? summaries);
}

/** Users of series in a minute (since the epoch). A user is represented by both halves of the user's hash. */
export class UserRecords extends RecordBuffer {
  add(ref: number, minute: number, high: number, low: number): void {
    this.append(ref, minute, high, low, 0);
  }
}

export function eachUser({ users, batch, apart }: Envelope, visit: UserRecords['add']): void {
  eachRecord(users, batch, visit, apart?.users);
}

/** Value in place of a series that marks the start of a person. The exposures of the person follow. */
const person = -1;

export class ExposureRecords extends RecordBuffer {
  #begun = false;

  /** Begins the exposures of a person in one environment. The person is given by the digest of `digestIdentity`. */
  addPerson(digest: Digest): void {
    this.#begun = true;
    this.append(person, digest[0], digest[1], digest[2], digest[3]);
  }

  /** Adds the person's exposure to a variant, at a time in Unix seconds. */
  add(ref: number, seconds: number, checks: number, used: number, viewed: number): void {
    assert(this.#begun, 'an exposure follows its person');
    this.append(ref, seconds, checks, used, viewed);
  }
}

interface ExposureVisitor {
  person(digest: Buffer): void;
  exposure(ref: number, seconds: number, checks: number, used: number, viewed: number): void;
}

/** Visits the exposures by person. */
export function eachExposure({ exposures, batch, apart }: Envelope, visitor: ExposureVisitor): void {
  eachRecord(exposures, batch, toVisitor(visitor), apart?.exposures);
}

/** Reads a range of the exposures. The range must begin with the first record of a person. */
export function eachExposureIn({ exposures, batch }: Envelope, range: RecordRange, visitor: ExposureVisitor): void {
  eachRecordIn(exposures, batch, range, toVisitor(visitor));
}

function toVisitor(visitor: ExposureVisitor) {
  return (a: number, b: number, c: number, d: number, e: number) => {
    if (a === person) visitor.person(digestBytes(b, c, d, e));
    else visitor.exposure(a, b, c, d, e);
  };
}

/** Number of records of each kind in a batch. The extents before and after a message delimit its records. */
export type Extent = readonly [
  counts: number,
  measurements: number,
  users: number,
  exposures: number,
  unresolved: number,
];

const nothing: Extent = [0, 0, 0, 0, 0];

/**
 * Messages that must not count again (see `SeenMessages`), with their time (Unix ms). The time of a forgotten message
 * is stored as -1 - time. A counted message is followed by two extents, from before and after its records.
 */
export class MessageRecords extends RecordBuffer {
  add(identity: Digest, at: number, from = nothing, to = nothing): void {
    this.append(at, identity[0], identity[1], identity[2], identity[3]);
    this.append(from[0], from[1], from[2], from[3], from[4]);
    this.append(to[0], to[1], to[2], to[3], to[4]);
  }

  /** Deletes a message that was counted at `at`. Newer messages of the application need the space. */
  forget(identity: Digest, at: number): void {
    this.append(-1 - at, identity[0], identity[1], identity[2], identity[3]);
  }
}

export interface BatchMessage extends MessageChange {
  readonly from: Extent;
  readonly to: Extent;
}

export function messageChanges({ messages, batch }: Envelope): BatchMessage[] {
  const found: { at: number; identity: Uint8Array; forgotten?: true; from: Extent; to: Extent }[] = [];
  let extents = 0;
  eachRecord(messages, batch, (first, a, b, c, d) => {
    if (extents > 0) {
      extents -= 1;
      found.at(-1)![extents === 1 ? 'from' : 'to'] = [first, a, b, c, d];
      return;
    }
    const identity = digestBytes(a, b, c, d);
    const from = nothing;
    const to = nothing;
    if (first < 0) found.push({ at: -1 - first, identity, forgotten: true, from, to });
    else {
      found.push({ at: first, identity, from, to });
      extents = 2;
    }
  });
  return found;
}

/** The imported messages of a sealed batch; empty if all messages of the batch are processed separately. */
export function listImportedMessages({ apart }: Envelope, messages: readonly BatchMessage[]): readonly BatchMessage[] {
  return apart === undefined ? messages.filter(({ at }) => at === permanentAt) : [];
}

export function eachImportedCount(
  { counts, batch }: Envelope,
  { from, to }: BatchMessage,
  visit: CountRecords['add'],
): void {
  eachRecordIn(counts, batch, [from[0], to[0]], visit);
}

export function eachSummary(
  { measurements, batch }: Envelope,
  { from, to }: BatchMessage,
  visit: MeasurementRecords['addSummary'],
): void {
  let summary: number[] = [];
  eachRecordIn(measurements, batch, [from[1], to[1]], (ref, bucket, one, other) => {
    summary.push(one, other);
    if (summary.length < summaryNumbers) return;
    visit(ref, bucket, createMeasurement(summary));
    summary = [];
  });
}

const summaryNumbers = 6;

export function createMeasurement(numbers: readonly number[]): Measurement {
  const [sum = 0, count = 0, last = 0, lastAt = 0, min = 0, max = 0] = numbers;
  return { sum, count, last, lastAt, min, max };
}

/** 128 bits as four unsigned 32-bit words, because the records for the worker consist of numbers. */
export type Digest = readonly [number, number, number, number];

export function digestWords(hash: Buffer): Digest {
  return [hash.readUInt32BE(0), hash.readUInt32BE(4), hash.readUInt32BE(8), hash.readUInt32BE(12)];
}

export function digestBytes(...words: Digest): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  for (const [at, word] of words.entries()) bytes.writeUInt32BE(word, at * 4);
  return bytes;
}
