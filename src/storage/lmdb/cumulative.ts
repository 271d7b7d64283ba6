import { Packr } from 'msgpackr';
import type { LedgerNote } from '../../contract/notes.ts';
import { withoutVariant } from '../../contract/unleash-checks.ts';
import { prefixKey } from './key-prefix.ts';
import { decodeDimensions, encodeDimensions, type LedgerLine } from './ledger.ts';
import type { Table } from './lmdb.ts';
import { wholeMs } from './messages.ts';

/**
 * A message with a bucket that the SDK can send again. Until a bucket is confirmed, the SDK adds to the bucket without
 * changing its start, so the next message repeats the earlier totals. Another process can use the same start, so a
 * message counts in full unless it clearly repeats the last message of its identity.
 */
export interface CumulativeMessage {
  /** 128 bits: the number of the application, the start (Unix seconds), and a hash of the sender and the start. */
  readonly identity: Uint8Array;
  /** Unix ms. */
  readonly at: number;
  /**
   * Identity of the registration that names the SDK and its interval; empty if the message itself names SDK and
   * interval. In a registration, `sender` equals `identity`.
   */
  readonly sender: Uint8Array;
  /** The kind of rows that the SDK repeats: see `repeats`. The kind in the sender's registration has priority. */
  readonly repeats: number;
  /** End of the bucket by the clock of the sender, Unix ms. */
  readonly stop: number;
  /** Length of the bucket in ms. */
  readonly length: number;
  /** Interval between the messages of the sender in ms; 0 if unknown. */
  readonly interval: number;
  /** The ledger subject for a note about this message, without the code. Empty if the message gets no note. */
  readonly subject: string;
  /** The time bucket (see `encodeBucket`). */
  readonly bucket: number;
  /** Time of the measurements, Unix ms. */
  readonly measuredAt: number;
  /** The rows, each as `ref, kind, amount`. The rows of a flag are consecutive. */
  readonly rows: readonly number[];
}

/** Period in which messages are remembered, ms. The period is longer than any pause of an SDK between two attempts. */
export const cumulativeLifeMs = 60 * 60_000;

/**
 * Maximum number of messages remembered per application, 1 kB each. Beyond the maximum, messages with the oldest start
 * are forgotten.
 */
const mostRemembered = 200_000;

/**
 * Stores the last message of each identity. Key: 0 (u8), identity (16). Value: see `encode`. Key to find expired
 * messages: 1 (u8), the time of the last message (Unix ms, u48, big-endian), identity; the value is empty. Key of the
 * number of messages of an application: 2 (u8), application (u32, big-endian); the value is a u32, little-endian.
 */
export class CumulativeTotals {
  readonly #table: Table;
  readonly #most: number;

  /** @param most maximum number of messages remembered per application */
  constructor(table: Table, most = mostRemembered) {
    this.#table = table;
    this.#most = most;
  }

  /**
   * Compares a message with the previous message of its identity, and remembers the message. Call this in a
   * transaction.
   */
  add(message: CumulativeMessage): Addition {
    const { identity, sender, at, interval, length } = message;
    const known = this.#find(identity);
    if (isEqual(identity, sender)) {
      this.#put(identity, known, messageAt(at, message));
      return { rows: [] };
    }
    const registered = sender.length === 0 ? undefined : this.#findRegistration(sender, at);
    const own = {
      ...message,
      repeats: registered?.repeats ?? message.repeats,
      interval: interval || registered?.interval || known?.interval || length,
    };
    if (own.repeats === repeats.never) return { rows: message.rows };
    if (known === undefined) {
      this.#put(identity, known, own);
      return { rows: message.rows };
    }
    const [addition, last] = compare(own, known);
    this.#put(identity, known, messageAt(Math.max(at, known.at), last));
    return addition;
  }

  /** The registration of a sender, which is remembered until the sender stops sending. */
  #findRegistration(sender: Uint8Array, at: number): KnownMessage | undefined {
    const registered = this.#find(sender);
    if (registered !== undefined && at > registered.at + cumulativeLifeMs / 2)
      this.#put(sender, registered, messageAt(at, registered));
    return registered;
  }

  #find(identity: Uint8Array): KnownMessage | undefined {
    const stored = this.#table.get(totalsKey(identity));
    return stored === undefined ? undefined : decode(stored);
  }

  #put(identity: Uint8Array, before: KnownMessage | undefined, last: KnownMessage): void {
    if (before === undefined) this.#makeRoom(identity);
    else this.#table.removeSync(timeKey(before.at, identity));
    this.#table.putSync(totalsKey(identity), encode(last));
    this.#table.putSync(timeKey(last.at, identity), nothing);
  }

  /** Counts a new message of an application. At the maximum, forgets the message with the oldest start. */
  #makeRoom(identity: Uint8Array): void {
    const application = readApplication(identity);
    const range = { start: totalsKey(prefixKey(application)), end: totalsKey(prefixKey(application + 1)), limit: 1 };
    const [first] = this.#size(application) < this.#most ? [] : this.#table.getRange(range);
    if (first !== undefined) {
      const key = Buffer.from(first.key);
      this.#remove(timeKey(decode(first.value).at, key.subarray(1)));
    }
    this.#resize(application, 1);
  }

  #size(application: number): number {
    return this.#table.get(sizeKey(application))?.readUInt32LE(0) ?? 0;
  }

  #resize(application: number, change: number): void {
    const size = this.#size(application) + change;
    if (size <= 0) this.#table.removeSync(sizeKey(application));
    else this.#table.putSync(sizeKey(application), Buffer.from(Uint32Array.of(size).buffer));
  }

  #remove(time: Buffer): void {
    const identity = time.subarray(1 + timeBytes);
    this.#table.removeSync(time);
    this.#table.removeSync(totalsKey(identity));
    this.#resize(readApplication(identity), -1);
  }

  /**
   * Forgets expired messages, by the time of the latest given message. The limit is higher than the number of given
   * messages, so that the table does not grow.
   */
  expire(messages: readonly CumulativeMessage[]): void {
    if (messages.length === 0) return;
    const latest = messages.reduce((last, { at }) => Math.max(last, at), 0);
    this.forget(latest - cumulativeLifeMs, 64 + 2 * messages.length);
  }

  /**
   * Forgets messages older than a time (Unix ms), the oldest first. Call this in a transaction.
   * @returns the number of forgotten messages
   */
  forget(before: number, limit: number): number {
    const range = { start: timeKey(0), end: timeKey(before), limit };
    const expired = Array.from(this.#table.getKeys(range), (key) => Buffer.from(key));
    for (const key of expired) this.#remove(key);
    return expired.length;
  }
}

export function noteLine({ identity, at, subject }: CumulativeMessage, code: LedgerNote): LedgerLine {
  return {
    application: readApplication(identity),
    hour: Math.floor(at / 3_600_000),
    subject: encodeDimensions({ ...decodeDimensions(subject), code }),
    count: 1,
    lastAt: at,
    example: null,
  };
}

export function readApplication(identity: Uint8Array): number {
  return new DataView(identity.buffer, identity.byteOffset).getUint32(0);
}

const packr = new Packr({ useRecords: false });

/** Number of the encoding. Totals of unreleased versions, which stored a time in place of this number, are ignored. */
const encoding = 1;

/**
 * Encodes a message: the number of the encoding, the fields of `KnownMessage`, then its rows, as MessagePack. A series
 * is encoded as the difference to the series before it, which is usually a small number.
 */
function encode({ at, repeats, stop, interval, rows }: KnownMessage): Buffer {
  let before = 0;
  const near = rows.map((each, place) => {
    if (place % rowWidth !== 0) return each;
    const distance = each - before;
    before = each;
    return distance;
  });
  return packr.pack([encoding, wholeMs(at), repeats, stop, interval, ...near]);
}

function decode(stored: Uint8Array): KnownMessage {
  const [mark, ...fields]: number[] = packr.unpack(stored);
  if (mark !== encoding) return { at: mark!, repeats: repeats.never, stop: 0, interval: 0, rows: [] };
  const [at = 0, own = 0, stop = 0, interval = 0, ...rows] = fields;
  for (let row = rowWidth; row < rows.length; row += rowWidth) rows[row]! += rows[row - rowWidth]!;
  return { at, repeats: own, stop, interval, rows };
}

function messageAt(at: number, { repeats, stop, interval, rows }: KnownMessage): KnownMessage {
  return { at, repeats, stop, interval, rows };
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && Buffer.compare(one, other) === 0;
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

function sizeKey(application: number): Buffer {
  return Buffer.concat([Buffer.of(2), prefixKey(application)]);
}

/** The rows that an SDK sends again after a message was not confirmed. */
export const repeats = {
  /** No rows. Each message counts in full. */
  never: 0,
  /** All rows, with the same or larger amounts. */
  whole: 1,
  /** `yes` and `no`, with the same or larger amounts, but no variants. */
  withoutVariants: 2,
  /** Counters with larger amounts, but with another start. Such a repetition is not recognised, and counts in full. */
  values: 3,
} as const;
export type Repeats = (typeof repeats)[keyof typeof repeats];

export const rowKind = { yes: 0, no: 1, variant: 2, counter: 3, gauge: 4 } as const;
/** Added to the kind of a row to mark the first row of a flag. */
export const opensFeature = 8;

/** Number of array elements per row. */
export const rowWidth = 3;

/** A message in its stored form. */
interface KnownMessage {
  readonly at: number;
  readonly repeats: number;
  readonly stop: number;
  /** Interval in ms; 0 if unknown. */
  readonly interval: number;
  readonly rows: readonly number[];
}

/** The rows of a message that are not counted yet. */
interface Addition {
  /** The rows, each as `ref, kind, amount`. */
  readonly rows: readonly number[];
  readonly note?: LedgerNote;
}

/** Minimum time between two messages of one process, as a fraction of the interval, because timers are not exact. */
const shortestInterval = 0.9;

/**
 * Compares a message with the previous message of its identity. Unless a repetition is certain, the message counts in
 * full.
 * @returns the rows that the message adds, and the message to compare the next message with
 */
function compare(message: KnownMessage, last: KnownMessage): [Addition, KnownMessage] {
  const own = sumTotals(message.rows);
  const known = sumTotals(last.rows);
  const { yes, no, variant, counter } = rowKind;
  if (message.repeats === repeats.values) {
    const resembles = includes(own, known, [counter]);
    return [{ rows: message.rows, ...(resembles && { note: 'possible_repeat' }) }, message];
  }
  const isWhole = message.repeats === repeats.whole;
  // Only the SDK for Go, whose times in nanoseconds are unique, can resend a growing bucket unchanged (through a
  // proxy). Equal messages of the SDK for Node can come from two processes that started in the same millisecond.
  if (!isWhole && message.stop === last.stop && isSame(own, known)) return [{ rows: [], note: 'repeated' }, last];
  const repeated = isWhole ? [yes, no, variant, counter] : [yes, no];
  const later = message.stop - last.stop;
  const patience = shortestInterval * message.interval;
  if (patience > 0 && later >= patience && includes(own, known, repeated)) {
    const subtracted = !isWhole && includes(own, known, [counter]) ? [...repeated, counter] : repeated;
    const rows = difference(message.rows, own, known, subtracted);
    if (isWhole || haveTheirChecks(rows)) return [{ rows, note: 'repeated' }, message];
  }
  // An earlier message, whose counts the last message includes, can arrive late through the network or another machine.
  if (patience > 0 && -later >= patience && includes(known, own, repeated))
    return [{ rows: [], note: 'repeated' }, last];
  return [{ rows: message.rows, note: 'possible_repeat' }, message];
}

/**
 * Visits the counts and values in rows: the checks of each variant, and the remaining checks of a flag (see
 * `withoutVariant`). Allocates nothing, because it runs for every message.
 */
export function eachAdded(
  rows: readonly number[],
  visit: { count(ref: number, checks: number): void; measurement(ref: number, value: number): void },
): void {
  for (let from = 0, end = 0; from < rows.length; from = end) {
    end = findFeatureEnd(rows, from);
    addFeature(rows, from, end, visit);
  }
  for (let at = 0; at < rows.length; at += rowWidth)
    if (getKind(rows[at + 1]!) >= rowKind.counter) visit.measurement(rows[at]!, rows[at + 2]!);
}

const getKind = (kind: number) => kind % opensFeature;

/** The end of the rows of a flag. @param from the first row of the flag */
function findFeatureEnd(rows: readonly number[], from: number): number {
  let end = from + rowWidth;
  while (end < rows.length && rows[end + 1]! < opensFeature) end += rowWidth;
  return end;
}

function addFeature(
  rows: readonly number[],
  from: number,
  end: number,
  visit: { count(ref: number, checks: number): void },
): void {
  const yes = findLastRow(rows, from, end, rowKind.yes);
  const no = findLastRow(rows, from, end, rowKind.no);
  let served = 0;
  for (let at = from; at < end; at += rowWidth) {
    if (getKind(rows[at + 1]!) !== rowKind.variant) continue;
    const checks = rows[at + 2]!;
    served += checks;
    if (checks > 0) visit.count(rows[at]!, checks);
  }
  const { enabled, disabled } = withoutVariant(amountAt(rows, yes), amountAt(rows, no), served);
  if (enabled > 0) visit.count(rows[yes]!, enabled);
  if (disabled > 0) visit.count(rows[no]!, disabled);
}

/** The position of the last row of a kind, or -1. */
function findLastRow(rows: readonly number[], from: number, end: number, kind: number): number {
  let last = -1;
  for (let at = from; at < end; at += rowWidth) if (getKind(rows[at + 1]!) === kind) last = at;
  return last;
}

const amountAt = (rows: readonly number[], at: number) => (at < 0 ? 0 : rows[at + 2]!);

/** True if each flag has at least as many checks as all its variants together. */
function haveTheirChecks(rows: readonly number[]): boolean {
  for (let from = 0, end = 0; from < rows.length; from = end) {
    end = findFeatureEnd(rows, from);
    let served = 0;
    for (let at = from; at < end; at += rowWidth)
      if (getKind(rows[at + 1]!) === rowKind.variant) served += rows[at + 2]!;
    const yes = amountAt(rows, findLastRow(rows, from, end, rowKind.yes));
    if (served > yes + amountAt(rows, findLastRow(rows, from, end, rowKind.no))) return false;
  }
  return true;
}

/** The amounts of each kind, added up by series, because all names over a limit share a series. */
type Totals = readonly ReadonlyMap<number, number>[];

function sumTotals(rows: readonly number[]): Totals {
  const totals = Object.values(rowKind).map(() => new Map<number, number>());
  for (let at = 0; at < rows.length; at += rowWidth) {
    const ref = rows[at]!;
    const own = totals[getKind(rows[at + 1]!)]!;
    own.set(ref, (own.get(ref) ?? 0) + rows[at + 2]!);
  }
  return totals;
}

/** True if `totals` has at least the amounts of `other`, for these kinds of rows. */
function includes(totals: Totals, other: Totals, kinds: readonly number[]): boolean {
  return kinds.every((kind) => {
    for (const [ref, amount] of other[kind]!) if (amount > (totals[kind]!.get(ref) ?? 0)) return false;
    return true;
  });
}

function isSame(totals: Totals, other: Totals): boolean {
  return totals.every((own, kind) => {
    if (own.size !== other[kind]!.size) return false;
    for (const [ref, amount] of own) if (amount !== other[kind]!.get(ref)) return false;
    return true;
  });
}

/** Returns the rows of a message. In rows of the given kinds, subtracts the amounts of the previous message. */
function difference(rows: readonly number[], own: Totals, last: Totals, kinds: readonly number[]): number[] {
  const found: number[] = [];
  const visited = new Set<string>();
  for (let at = 0; at < rows.length; at += rowWidth) {
    const ref = rows[at]!;
    const kind = rows[at + 1]!;
    const amount = rows[at + 2]!;
    const name = `${ref} ${getKind(kind)}`;
    const more = (own[getKind(kind)]!.get(ref) ?? 0) - (last[getKind(kind)]!.get(ref) ?? 0);
    if (!kinds.includes(getKind(kind))) found.push(ref, kind, amount);
    else found.push(ref, kind, visited.has(name) ? 0 : more);
    visited.add(name);
  }
  return found;
}
