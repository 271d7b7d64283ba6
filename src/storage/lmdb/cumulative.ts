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

/** The totals of a message by series. */
type Totals = ReadonlyMap<number, number>;

/**
 * The totals of cumulative messages. Key: 0 (u8), identity (16). Value: the time of the last message (Unix ms), then series and
 * totals in turn, as MessagePack. To find expired ones: 1 (u8), that time (u48, big-endian), identity; the value is empty.
 */
export class CumulativeTotals {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Remembers the totals of a message. Call it in a transaction. @returns what the message adds to them */
  add(message: CumulativeMessage): CumulativeMessage {
    const key = totalsKey(message.identity);
    const stored = this.#table.get(key);
    const [at, ...rows]: readonly number[] = stored === undefined ? [] : packr.unpack(stored);
    const known = totalsOf(rows, 2);
    const own = new Map([...totalsOf(message.counts, 3), ...totalsOf(message.measurements, 4)]);
    if (at !== undefined && covers(known, own)) return { ...message, counts: [], measurements: [] };
    if (at !== undefined) this.#table.removeSync(timeKey(at, message.identity));
    const latest = Math.max(at ?? 0, wholeMs(message.at));
    const all = greatest(known, own);
    this.#table.putSync(key, packr.pack([latest, ...[...all].flat()]));
    this.#table.putSync(timeKey(latest, message.identity), nothing);
    // If neither covers the other, two senders have the same identity. In doubt, a message counts.
    const base = covers(own, known) ? known : new Map<number, number>();
    return {
      ...message,
      counts: added(message.counts, 3, own, base),
      measurements: added(message.measurements, 4, own, base),
    };
  }

  /** Forgets some totals that have expired by the time of the latest of these messages: more than the messages, but a bounded number. */
  expire(messages: readonly CumulativeMessage[]): void {
    if (messages.length === 0) return;
    const latest = messages.reduce((last, { at }) => Math.max(last, at), 0);
    this.forget(latest - cumulativeLifeMs, 64 + 2 * messages.length);
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

/** Adds the rows of one series. Several names over a limit have the same series. */
function totalsOf(rows: readonly number[], width: 2 | 3 | 4): Map<number, number> {
  const totals = new Map<number, number>();
  const place = Math.min(2, width - 1);
  for (let at = 0; at < rows.length; at += width)
    totals.set(rows[at]!, (totals.get(rows[at]!) ?? 0) + rows[at + place]!);
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
