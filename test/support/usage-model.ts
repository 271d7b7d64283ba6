import type { CountedMessage, Delta } from '../../src/replication/delta.ts';
import { HyperLogLog } from '../../src/storage/aggregate/hyperloglog.ts';
import { addValue, mergeLedgerTotal, mergeMeasurement } from '../../src/storage/aggregate/merge.ts';
import {
  bucketWidth,
  countsCodec,
  encodeBucket,
  type Measurement,
  measurementCodec,
  scanCells,
  seriesRef,
} from '../../src/storage/lmdb/blocks.ts';
import { decodeExposures } from '../../src/storage/lmdb/exposures.ts';
import { type LedgerTotal, readLedgerLine } from '../../src/storage/lmdb/ledger.ts';
import { decodeSenders } from '../../src/storage/lmdb/senders.ts';
import { listSeenSeries, listSeries } from '../../src/storage/lmdb/series.ts';
import { readChunk, sketchChunks } from '../../src/storage/lmdb/sketches.ts';
import type { UsageTables } from '../../src/storage/lmdb/usage.ts';
import { testEnvironments } from './random-batches.ts';

/** A model of the usage store: counts by the names of their rows. */
export class UsageModel {
  readonly counts = new Map<string, number[]>();
  readonly measurements = new Map<string, Measurement>();
  readonly users = new Map<string, HyperLogLog>();
  readonly lastSeen = new Map<number, number>();
  readonly exposures = new Map<string, number[]>();
  readonly names = new Map<number, string>();
  readonly ledger = new Map<string, LedgerTotal>();
  readonly senders = new Map<string, [first: number, last: number]>();

  count(ref: number, bucket: number, ...counts: number[]): void {
    const sums = this.counts.get(`${ref} ${bucket}`) ?? [0, 0, 0];
    this.counts.set(
      `${ref} ${bucket}`,
      sums.map((sum, at) => sum + counts[at]!),
    );
    this.see(ref, Math.floor(bucket / 4));
  }

  measured(ref: number, bucket: number): Measurement {
    this.see(ref, Math.floor(bucket / 4));
    const cell = this.measurements.get(`${ref} ${bucket}`) ?? measurementCodec.empty();
    this.measurements.set(`${ref} ${bucket}`, cell);
    return cell;
  }

  getUsers(ref: number, day: number): HyperLogLog {
    const sketch = this.users.get(`${ref} ${day}`) ?? new HyperLogLog();
    this.users.set(`${ref} ${day}`, sketch);
    return sketch;
  }

  see(ref: number, minute: number): void {
    this.lastSeen.set(ref, Math.max(minute, this.lastSeen.get(ref) ?? 0));
  }

  expose(person: string, first: number, last: number, ...counts: number[]): void {
    const before = this.exposures.get(person) ?? [first, last, 0, 0, 0];
    this.exposures.set(person, [
      Math.min(first, before[0]!),
      Math.max(last, before[1]!),
      ...counts.map((count, at) => count + before[at + 2]!),
    ]);
  }

  ask(sender: string, first: number, last: number): void {
    const before = this.senders.get(sender) ?? [first, last];
    this.senders.set(sender, [Math.min(before[0], first), Math.max(before[1], last)]);
  }

  /** Returns the content in a form that can be compared. */
  content() {
    const sorted = <T>(rows: Iterable<readonly [unknown, T]>) => {
      return [...rows].map(([key, value]) => [`${key}`, value]).sort((one, other) => (one[0]! < other[0]! ? -1 : 1));
    };
    return {
      counts: sorted(this.counts),
      measurements: sorted(this.measurements),
      users: sorted([...this.users].map(([key, sketch]) => [key, [...sketch.contents()].map(String)] as const)),
      estimates: sorted([...this.users].map(([key, sketch]) => [key, sketch.estimate()] as const)),
      seen: sorted(this.lastSeen),
      exposures: sorted(this.exposures),
      names: sorted(this.names),
      ledger: sorted(this.ledger),
      senders: sorted(this.senders),
    };
  }
}

const splitRows = (flat: readonly number[], width: number) =>
  Array.from({ length: flat.length / width }, (_, at) => flat.slice(at * width, (at + 1) * width));

type Six = [number, number, number, number, number, number];

/** Applies a delta to a model, as a node without other data does. */
export function applyDelta(model: UsageModel, delta: Delta): void {
  for (const { environment, ordinal, name } of delta.series) {
    model.names.set(seriesRef(environment, ordinal), name.join('/'));
  }
  for (const row of splitRows(delta.counts, 5)) model.count(...(row as [number, number]));
  for (const row of splitRows(delta.measurements, 8)) {
    const [ref, bucket, sum, count, last, lastAt, min, max] = row as [number, number, ...Six];
    mergeMeasurement(model.measured(ref, bucket), { sum, count, last, lastAt, min, max });
  }
  for (const { ref, day, chunk, value } of delta.sketches) {
    model.getUsers(ref, day).mergeChunk(chunk, readChunk(Buffer.from(value)));
  }
  for (const [ref, , last] of splitRows(delta.seen, 3)) model.see(ref!, last!);
  applyExposures(model, delta);
  for (const message of delta.messages) applyMessage(model, message);
  for (const { environment, ordinal, name, first, last } of delta.senders) {
    model.ask(`${environment} ${ordinal} ${name}`, first, last);
  }
  for (const { application, hour, subject, count, lastAt, example } of delta.ledger) {
    const key = `${application} ${hour} ${subject}`;
    const totals = model.ledger.get(key) ?? { count: 0, lastAt: 0, example: null };
    mergeLedgerTotal(totals, { count, lastAt, example });
    model.ledger.set(key, totals);
  }
}

function applyExposures(model: UsageModel, { exposures }: Pick<Delta, 'exposures'>): void {
  for (const { environment, digest, rows } of exposures) {
    for (const [ordinal, ...row] of splitRows(rows, 6)) {
      const person = `${environment} ${Buffer.from(digest).toString('hex')} ${ordinal}`;
      model.expose(person, ...(row as [number, number]));
    }
  }
}

function applyMessage(model: UsageModel, message: CountedMessage): void {
  for (const row of splitRows(message.counts, 5)) model.count(...(row as [number, number]));
  for (const [ref, bucket, value, at] of splitRows(message.measurements, 4)) {
    addValue(model.measured(ref!, bucket!), value!, at!);
  }
  for (const [ref, minute, high, low] of splitRows(message.users, 4)) {
    model.see(ref!, minute!);
    model.getUsers(ref!, Math.floor(minute! / 1440)).add(high!, low!);
  }
  applyExposures(model, message);
}

export function readModel(store: UsageTables): UsageModel {
  const model = new UsageModel();
  store.counts.resetReadTxn();
  for (const environment of testEnvironments) {
    for (const { ordinal, name } of listSeries(store, environment)) {
      model.names.set(seriesRef(environment, ordinal), name.join('/'));
    }
    for (const width of Object.values(bucketWidth)) {
      for (const cell of scanCells(store.counts, countsCodec, environment, width, 0, 2 ** 31)) {
        const { checks, used, viewed } = cell.value;
        model.count(seriesRef(environment, cell.ordinal), encodeBucket(width, cell.minute), checks, used, viewed);
      }
      for (const cell of scanCells(store.measurements, measurementCodec, environment, width, 0, 2 ** 31)) {
        const ref = seriesRef(environment, cell.ordinal);
        mergeMeasurement(model.measured(ref, encodeBucket(width, cell.minute)), cell.value);
      }
    }
    const day = Math.floor(100_000 / 1440);
    for (const { ordinal, chunk, content } of sketchChunks(store, environment, day, 0, 2 ** 20)) {
      model.getUsers(seriesRef(environment, ordinal), day).mergeChunk(chunk, content);
    }
  }
  readRest(model, store);
  return model;
}

function readRest(model: UsageModel, store: UsageTables): void {
  model.lastSeen.clear();
  for (const environment of testEnvironments) {
    for (const { ordinal, last } of listSeenSeries(store, environment))
      model.see(seriesRef(environment, ordinal), last);
  }
  for (const { key, value } of store.senders.getRange()) {
    for (const { name, first, last } of decodeSenders(value)) {
      model.ask(`${key.readUInt32BE(0)} ${key.readUInt32BE(4)} ${name}`, first, last);
    }
  }
  for (const { key, value } of store.exposures.getRange()) {
    if (key.length === 4) continue;
    for (const [ordinal, row] of decodeExposures(value)) {
      const person = `${key.readUInt32BE(0)} ${key.subarray(4).toString('hex')} ${ordinal}`;
      model.expose(person, row.firstSeen, row.lastSeen, row.checks, row.used, row.viewed);
    }
  }
  for (const { key, value } of store.ledger.getRange()) {
    const { application, hour, subject, ...totals } = readLedgerLine(key, value);
    model.ledger.set(`${application} ${hour} ${subject}`, totals);
  }
}
