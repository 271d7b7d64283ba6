import { Packr } from 'msgpackr';
import type { LedgerNote } from '../../contract/notes.ts';
import { type Addition, compare, type Known, repeats, rowWidth } from './cumulative-rows.ts';
import { prefixKey } from './key-prefix.ts';
import { type LedgerLine, subjectOf, subjectText } from './ledger.ts';
import type { Table } from './lmdb.ts';
import { wholeMs } from './messages.ts';

/**
 * A bucket of an SDK that can send it again. The SDK keeps the start of an unconfirmed bucket and adds to it, so the next
 * message repeats the totals of the last one. Other processes can have the same start, so a message that does not
 * clearly repeat the last one of its identity counts in full.
 */
export interface CumulativeMessage {
  /** 128 bits: the number of the application, the start (Unix seconds), and a hash of the sender and the start. */
  readonly identity: Uint8Array;
  /** Unix ms. */
  readonly at: number;
  /**
   * Identity of the registration that states the SDK and its interval; empty if the message states them itself. A registration
   * has the same value as `identity`.
   */
  readonly sender: Uint8Array;
  /** One of `repeats`: what the SDK repeats, unless its registration states something else. */
  readonly repeats: number;
  /** End of the bucket by the clock of the sender, Unix ms. */
  readonly stop: number;
  /** Length of the bucket in ms. */
  readonly length: number;
  /** Interval between the messages of the sender in ms; 0 if unknown. */
  readonly interval: number;
  /** The ledger subject of a note, whose code is filled in; empty to note nothing. */
  readonly subject: string;
  /** The time bucket (see `bucketOf`). */
  readonly bucket: number;
  /** Unix ms: the time of the measurements. */
  readonly measuredAt: number;
  /** `ref, kind, amount`. The rows of a flag are consecutive. */
  readonly rows: readonly number[];
}

/** Period in which messages are remembered. It exceeds the pauses of SDKs that back off. */
export const cumulativeLifeMs = 60 * 60_000;

/** Maximum number of messages remembered per application, about 1 kB each. Beyond this, the one with the oldest start is forgotten. */
const mostRemembered = 200_000;

/**
 * The last messages. Key: 0 (u8), identity (16). Value: see `encode`. To find expired ones: 1 (u8), the time of the last message
 * (Unix ms, u48, big-endian), identity; the value is empty. Number of an application's messages: 2 (u8), application (u32,
 * big-endian); the value is a u32, little-endian.
 */
export class CumulativeTotals {
  readonly #table: Table;
  readonly #most: number;

  /** @param most maximum number of messages remembered per application */
  constructor(table: Table, most = mostRemembered) {
    this.#table = table;
    this.#most = most;
  }

  /** Compares a message with the previous message of its identity, and remembers it. Call it in a transaction. */
  add(message: CumulativeMessage): Addition {
    const { identity, sender, at, interval, length } = message;
    const known = this.#find(identity);
    if (isEqual(identity, sender)) {
      this.#put(identity, known, messageAt(at, message));
      return { rows: [] };
    }
    const registered = sender.length === 0 ? undefined : this.#registrationOf(sender, at);
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

  /** The registration of a sender, which is remembered as long as the sender sends. */
  #registrationOf(sender: Uint8Array, at: number): Known | undefined {
    const registered = this.#find(sender);
    if (registered !== undefined && at > registered.at + cumulativeLifeMs / 2)
      this.#put(sender, registered, messageAt(at, registered));
    return registered;
  }

  #find(identity: Uint8Array): Known | undefined {
    const stored = this.#table.get(totalsKey(identity));
    return stored === undefined ? undefined : decode(stored);
  }

  #put(identity: Uint8Array, before: Known | undefined, last: Known): void {
    if (before === undefined) this.#makeRoom(identity);
    else this.#table.removeSync(timeKey(before.at, identity));
    this.#table.putSync(totalsKey(identity), encode(last));
    this.#table.putSync(timeKey(last.at, identity), nothing);
  }

  /** Counts a new message of an application, and forgets the one with the oldest start if there are too many. */
  #makeRoom(identity: Uint8Array): void {
    const application = applicationOf(identity);
    const range = {
      start: totalsKey(prefixKey(application)),
      end: totalsKey(prefixKey(application + 1)),
      limit: 1,
    };
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
    this.#resize(applicationOf(identity), -1);
  }

  /** Forgets some messages that have expired by the time of the latest of these: more than these, but a bounded number. */
  expire(messages: readonly CumulativeMessage[]): void {
    if (messages.length === 0) return;
    const latest = messages.reduce((last, { at }) => Math.max(last, at), 0);
    this.forget(latest - cumulativeLifeMs, 64 + 2 * messages.length);
  }

  /** Forgets messages from before a time (Unix ms), the oldest first. Call it in a transaction. @returns the number of them */
  forget(before: number, limit: number): number {
    const range = { start: timeKey(0), end: timeKey(before), limit };
    const expired = Array.from(this.#table.getKeys(range), (key) => Buffer.from(key));
    for (const key of expired) this.#remove(key);
    return expired.length;
  }
}

export function noteLine({ identity, at, subject }: CumulativeMessage, code: LedgerNote): LedgerLine {
  return {
    application: applicationOf(identity),
    hour: Math.floor(at / 3_600_000),
    subject: subjectText({ ...subjectOf(subject), code }),
    count: 1,
    lastAt: at,
    example: null,
  };
}

export function applicationOf(identity: Uint8Array): number {
  return new DataView(identity.buffer, identity.byteOffset).getUint32(0);
}

const packr = new Packr({ useRecords: false });

/** Marks the encoding. Interim versions stored the time in its place, and totals of which too little is known here. */
const encoding = 1;

/** The mark, the fields of `Known`, then its rows, as MessagePack. A series is its distance from the one before, which is short. */
function encode({ at, repeats, stop, interval, rows }: Known): Buffer {
  let before = 0;
  const near = rows.map((each, place) => {
    if (place % rowWidth !== 0) return each;
    const distance = each - before;
    before = each;
    return distance;
  });
  return packr.pack([encoding, wholeMs(at), repeats, stop, interval, ...near]);
}

function decode(stored: Uint8Array): Known {
  const [mark, ...fields]: number[] = packr.unpack(stored);
  if (mark !== encoding) return { at: mark!, repeats: repeats.never, stop: 0, interval: 0, rows: [] };
  const [at = 0, own = 0, stop = 0, interval = 0, ...rows] = fields;
  for (let row = rowWidth; row < rows.length; row += rowWidth) rows[row]! += rows[row - rowWidth]!;
  return { at, repeats: own, stop, interval, rows };
}

function messageAt(at: number, { repeats, stop, interval, rows }: Known): Known {
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
