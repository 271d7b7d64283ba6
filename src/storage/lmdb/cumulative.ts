import { Packr } from 'msgpackr';
import type { Table } from './lmdb.ts';
import { wholeMs } from './messages.ts';

/**
 * What a sender has counted since a start of its own, as in OpenTelemetry's cumulative temporality. Until a message is
 * confirmed, the sender repeats its totals in the next one, with more added. Each message therefore counts only what it adds
 * to the earlier ones of its identity.
 */
export interface CumulativeMessage {
  /** 128 bits, by the sender and its start. */
  readonly identity: Uint8Array;
  /** Unix ms. */
  readonly at: number;
  /** `ref, bucket, checks` */
  readonly counts: readonly number[];
  /** `ref, bucket, value, at` */
  readonly measurements: readonly number[];
}

/** Period in which totals are remembered. It exceeds the pauses of SDKs that back off. */
export const cumulativeLifeMs = 60 * 60_000;

/** Maximum number of messages that a store remembers. They take about 1 kB each. Beyond this, the oldest are forgotten. */
const mostRemembered = 2_000_000;

/** The totals of a message by series. */
type Totals = ReadonlyMap<number, number>;

/**
 * The totals of cumulative messages. Key: 0 (u8), identity (16). Value: see `encode`. To find expired ones: 1 (u8), the time of
 * the last message (Unix ms, u48, big-endian), identity; the value is empty.
 */
export class CumulativeTotals {
  readonly #table: Table;
  readonly #most: number;

  constructor(table: Table, most = mostRemembered) {
    this.#table = table;
    this.#most = most;
  }

  /** Remembers the totals of a message. Call it in a transaction. @returns what the message adds to them */
  add(message: CumulativeMessage): CumulativeMessage {
    const key = totalsKey(message.identity);
    const stored = this.#table.get(key);
    const rows = rowsOf(message);
    if (stored === undefined) {
      this.#put(key, message, wholeMs(message.at), rows);
      return message;
    }
    const [known, own] = [decode(stored), totalsOf(rows)];
    if (covers(known.totals, own)) return { ...message, counts: [], measurements: [] };
    this.#table.removeSync(timeKey(known.at, message.identity));
    const all = [...greatest(known.totals, own)].flat();
    this.#put(key, message, Math.max(known.at, wholeMs(message.at)), all);
    // If neither covers the other, two senders have the same identity. In doubt, a message counts.
    const base = covers(own, known.totals) ? known.totals : new Map<number, number>();
    return {
      ...message,
      counts: added(message.counts, 3, own, base),
      measurements: added(message.measurements, 4, own, base),
    };
  }

  #put(key: Buffer, { identity }: CumulativeMessage, at: number, rows: readonly number[]): void {
    this.#table.putSync(key, encode(at, rows));
    this.#table.putSync(timeKey(at, identity), nothing);
  }

  /** Forgets some totals that have expired by the time of the latest of these messages: more than the messages, but a bounded number. */
  expire(messages: readonly CumulativeMessage[]): void {
    if (messages.length === 0) return;
    const latest = messages.reduce((last, { at }) => Math.max(last, at), 0);
    const limit = 64 + 2 * messages.length;
    const { entryCount } = this.#table.getStats() as { readonly entryCount: number };
    const isFull = entryCount > 2 * this.#most;
    this.forget(isFull ? latest : latest - cumulativeLifeMs, limit);
  }

  /** Forgets totals from before a time (Unix ms), the oldest first. Call it in a transaction. @returns the number of them */
  forget(before: number, limit: number): number {
    const range = { start: timeKey(0), end: timeKey(before), limit };
    const expired = Array.from(this.#table.getKeys(range), (key) => Buffer.from(key));
    for (const key of expired) {
      this.#table.removeSync(key);
      this.#table.removeSync(totalsKey(key.subarray(1 + timeBytes)));
    }
    return expired.length;
  }
}

/** Visits the rows of a message. */
export function eachTotal(
  { counts, measurements }: Pick<CumulativeMessage, 'counts' | 'measurements'>,
  visit: {
    count(ref: number, bucket: number, checks: number): void;
    measurement(ref: number, bucket: number, value: number, at: number): void;
  },
): void {
  for (let at = 0; at < counts.length; at += 3) visit.count(counts[at]!, counts[at + 1]!, counts[at + 2]!);
  for (let at = 0; at < measurements.length; at += 4) {
    const [ref, bucket, value, time] = measurements.slice(at, at + 4) as [number, number, number, number];
    visit.measurement(ref, bucket, value, time);
  }
}

/** The rows of a message: `ref, total`. */
function rowsOf({ counts, measurements }: CumulativeMessage): number[] {
  const rows: number[] = [];
  for (let at = 0; at < counts.length; at += 3) rows.push(counts[at]!, counts[at + 2]!);
  for (let at = 0; at < measurements.length; at += 4) rows.push(measurements[at]!, measurements[at + 2]!);
  return rows;
}

/** Adds the rows of one series. Several names over a limit have the same series. */
function totalsOf(rows: readonly number[]): Totals {
  const totals = new Map<number, number>();
  for (let at = 0; at < rows.length; at += 2)
    totals.set(rows[at]!, (totals.get(rows[at]!) ?? 0) + rows[at + 1]!);
  return totals;
}

/** Whether no total of the other is greater. */
function covers(totals: Totals, other: Totals): boolean {
  for (const [ref, total] of other) if (total > (totals.get(ref) ?? 0)) return false;
  return true;
}

function greatest(one: Totals, other: Totals): Totals {
  const all = new Map(one);
  for (const [ref, total] of other) all.set(ref, Math.max(total, all.get(ref) ?? total));
  return all;
}

/** One row for each series whose total exceeds its base. */
function added(rows: readonly number[], width: 3 | 4, totals: Totals, base: Totals): number[] {
  const found: number[] = [];
  const visited = new Set<number>();
  for (let at = 0; at < rows.length; at += width) {
    const ref = rows[at]!;
    const more = totals.get(ref)! - (base.get(ref) ?? 0);
    if (more !== 0 && !visited.has(ref))
      found.push(ref, rows[at + 1]!, more, ...rows.slice(at + 3, at + width));
    visited.add(ref);
  }
  return found;
}

const packr = new Packr({ useRecords: false });

/** The time (Unix ms), then rows, as MessagePack. A series is its distance from the one before, which is short. */
function encode(at: number, rows: readonly number[]): Buffer {
  const numbers = [at, ...rows];
  for (let row = numbers.length - 2; row > 1; row -= 2) numbers[row]! -= numbers[row - 2]!;
  return packr.pack(numbers);
}

function decode(stored: Uint8Array): { readonly at: number; readonly totals: Totals } {
  const [at, ...rows]: [number, ...number[]] = packr.unpack(stored);
  for (let row = 2; row < rows.length; row += 2) rows[row]! += rows[row - 2]!;
  return { at, totals: totalsOf(rows) };
}

const nothing = Buffer.alloc(0);
const timeBytes = 6;

function totalsKey(identity: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0), identity]);
}

function timeKey(at: number, identity: Uint8Array = nothing): Buffer {
  const key = Buffer.alloc(1 + timeBytes + identity.length);
  key[0] = 1;
  key.writeUIntBE(Math.min(2 ** 48 - 1, wholeMs(at)), 1, timeBytes);
  key.set(identity, 1 + timeBytes);
  return key;
}
