import type { HotTables } from '../storage/aggregate/hot-tables.ts';
import {
  type BucketWidth,
  type CellCodec,
  cellsPerBlock,
  computeBlock,
  countsCodec,
  decodeBlock,
  encodeBucket,
  measurementCodec,
  seriesPerEnvironment,
  seriesRef,
} from '../storage/lmdb/blocks.ts';
import { rowWidth } from '../storage/lmdb/cumulative.ts';
import { decodeExposures, removeExposures } from '../storage/lmdb/exposures.ts';
import { readLedgerLine } from '../storage/lmdb/ledger.ts';
import type { Table } from '../storage/lmdb/lmdb.ts';
import { decodeSenders } from '../storage/lmdb/senders.ts';
import { decodeSeen, seenWidth, seriesName } from '../storage/lmdb/series.ts';
import { environmentOrdinal } from '../storage/lmdb/sketches.ts';
import type { SpoolStore } from '../storage/lmdb/usage.ts';
import { cumulativeRecord, emptyContent, messageRecord, totalRecord, unresolvedRecord } from './delta.ts';

/** Approximate limits of a delta. They are small, because packets wait while a delta is sealed. */
export interface DeltaRoom {
  readonly rows: number;
  /** Limit of the size before compression. */
  readonly bytes: number;
}

export const wholeRoom: DeltaRoom = { rows: 1000, bytes: 96 * 1024 };

/** The content of the next delta of a stream. */
export class DeltaBuilder {
  readonly content = emptyContent();
  /** Refs of series that this delta names for the first time. */
  readonly named = new Set<number>();
  readonly #store: SpoolStore;
  readonly #isNamed: (ref: number) => boolean;
  readonly #room: DeltaRoom;
  #rows = 0;
  #bytes = 0;

  /** @param isNamed returns true if an earlier delta of the stream contains the name of a series (see `seriesRef`) */
  constructor(store: SpoolStore, isNamed: (ref: number) => boolean, room: DeltaRoom) {
    this.#room = room;
    this.#store = store;
    this.#isNamed = isNamed;
  }

  get isFull(): boolean {
    return this.#rows >= this.#room.rows || this.#bytes >= this.#room.bytes;
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  grow(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }

  /** Adds the name of a series, unless an earlier delta contains it. The series of a whole environment has no name. */
  name(ref: number): void {
    if (this.#isNamed(ref) || this.named.has(ref)) return;
    const ordinal = ref % seriesPerEnvironment;
    if (ordinal === environmentOrdinal) return;
    const environment = Math.floor(ref / seriesPerEnvironment);
    const name = seriesName(this.#store, environment, ordinal);
    if (name === undefined) return; // The environment of the series was deleted.
    this.named.add(ref);
    this.content.series.push({ environment, ordinal, name });
    this.#bytes += nameBytes;
  }

  /**
   * Adds the names of series in the first column of flat rows.
   * @param environment environment of the series, if that column has only ordinals (numbers within an environment)
   */
  nameRows(rows: readonly number[], width: number, environment = 0): void {
    for (let at = 0; at < rows.length; at += width) this.name(seriesRef(environment, rows[at]!));
  }
}

/**
 * A stage of sealing: moves the records of one table to a sealed delta, and drops their in-memory state, so that they
 * are not stored again.
 */
export interface Stage {
  readonly table: Table;
  /** Adds a record to the delta. LMDB reuses both buffers for the next record. @returns its number of rows */
  move(key: Buffer, value: Buffer, builder: DeltaBuilder): number;
  remove(key: Buffer): void;
}

/**
 * Moves records of a table into a delta in key order, until the delta is full. Call it in a transaction.
 * @param from the first key to visit
 * @returns the key to continue at; `undefined` at the end
 */
export function moveRecords(stage: Stage, builder: DeltaBuilder, from: Buffer): Buffer | undefined {
  const moved: Buffer[] = [];
  let next: Buffer | undefined;
  for (const { key, value } of stage.table.getRange({ start: from })) {
    if (builder.isFull) {
      next = Buffer.from(key);
      break;
    }
    moved.push(Buffer.from(key));
    builder.grow(stage.move(key, value, builder), key.length + value.length);
  }
  for (const key of moved) stage.remove(key);
  return next;
}

/** Number of rows for which a record counts that is not a row itself, such as a sender. */
const recordRows = 3;
/** Approximate size of a name. */
const nameBytes = 40;

interface InMemory {
  readonly hot: HotTables;
  forgetLedger(): void;
  /** Called when a use of an unknown instance id was moved to a delta. */
  resolvedOne(): void;
}

/** Returns the stages of all tables of the open delta, in sealing order. */
export function createStages(store: SpoolStore, { hot, forgetLedger, resolvedOne }: InMemory): readonly Stage[] {
  return [
    createStage(store.apart, (_, value, builder) => {
      const message = messageRecord.decode(value);
      builder.content.messages.push(message);
      builder.nameRows(message.counts, 5);
      builder.nameRows(message.measurements, 4);
      builder.nameRows(message.users, 4);
      for (const { environment, rows } of message.exposures) builder.nameRows(rows, 6, environment);
      for (const { rows } of message.unresolved) builder.nameRows(rows, 5);
      return recordRows + message.counts.length / 5 + message.measurements.length / 4;
    }),
    createStage(store.cumulative, (_, value, builder) => {
      const message = cumulativeRecord.decode(value);
      builder.content.cumulative.push(message);
      builder.nameRows(message.rows, rowWidth);
      return recordRows + message.rows.length / rowWidth;
    }),
    cellsStage(store.counts, hot.counts, countsCodec, ({ content }, ref, bucket, cell) => {
      content.counts.push(ref, bucket, cell.checks, cell.used, cell.viewed);
    }),
    cellsStage(store.measurements, hot.measurements, measurementCodec, ({ content }, ref, bucket, cell) => {
      const { sum, count, last, lastAt, min, max } = cell;
      content.measurements.push(ref, bucket, sum, count, last, lastAt, min, max);
    }),
    totalsStage(store),
    sketchesStage(store, hot),
    seenStage(store),
    exposuresStage(store),
    createStage(store.senders, (key, value, builder) => {
      const environment = key.readUInt32BE(0);
      const ordinal = key.readUInt32BE(4);
      builder.name(seriesRef(environment, ordinal));
      const senders = decodeSenders(value);
      for (const sender of senders) builder.content.senders.push({ environment, ordinal, ...sender });
      return recordRows * senders.length;
    }),
    createStage(
      store.ledger,
      (key, value, { content }) => {
        content.ledger.push(readLedgerLine(key, value));
        return recordRows;
      },
      forgetLedger,
    ),
    usesStage(store),
    createStage(
      store.unresolved,
      (_, value, builder) => {
        const each = unresolvedRecord.decode(value);
        builder.nameRows(each.rows, 5);
        builder.content.unresolved.push(each);
        return recordRows + each.rows.length / 5;
      },
      resolvedOne,
    ),
  ];
}

/** @param removed called to drop the in-memory state of a deleted record */
function createStage(table: Table, move: Stage['move'], removed: (key: Buffer) => void = () => {}): Stage {
  const remove = (key: Buffer) => {
    table.removeSync(key);
    removed(key);
  };
  return { table, move, remove };
}

/** The key of a block has the environment (u32), width (u8), minute (u32) and block (u32): see blocks.ts. */
function cellsStage<T>(
  table: Table,
  hot: { dropBlock(number: number, bucket: number): void },
  codec: CellCodec<T>,
  add: (builder: DeltaBuilder, ref: number, bucket: number, cell: T) => void,
): Stage {
  const firstRef = (key: Buffer) => seriesRef(key.readUInt32BE(0), key.readUInt32BE(9) * cellsPerBlock);
  const bucketIn = (key: Buffer) => encodeBucket(key[4] as BucketWidth, key.readUInt32BE(5));
  const move: Stage['move'] = (key, value, builder) => {
    const first = firstRef(key);
    const bucket = bucketIn(key);
    let rows = 0;
    for (const [place, cell] of decodeBlock(value, codec).entries()) {
      if (cell === undefined) continue;
      builder.name(first + place);
      add(builder, first + place, bucket, cell);
      rows += 1;
    }
    return rows;
  };
  return createStage(table, move, (key) => hot.dropBlock(computeBlock(firstRef(key)), bucketIn(key)));
}

/** The key of a sketch's chunk has the environment, day and ordinal (u32 each) and the chunk (u8): see sketches.ts. */
function sketchesStage({ sketches }: SpoolStore, hot: HotTables): Stage {
  const placeIn = (key: Buffer) => ({
    ref: seriesRef(key.readUInt32BE(0), key.readUInt32BE(8)),
    day: key.readUInt32BE(4),
    chunk: key[12]!,
  });
  const move: Stage['move'] = (key, value, builder) => {
    const place = placeIn(key);
    builder.name(place.ref);
    builder.content.sketches.push({ ...place, value: Buffer.from(value) });
    return recordRows;
  };
  return createStage(sketches, move, (key) => {
    const { ref, day, chunk } = placeIn(key);
    hot.sketches.take(ref, day, chunk);
  });
}

function totalsStage({ totals }: SpoolStore): Stage {
  return createStage(totals, (_, value, builder) => {
    const total = totalRecord.decode(value);
    builder.name(total.ref);
    builder.content.totals.push({ ...total, digest: Uint8Array.from(total.digest) });
    return recordRows;
  });
}

/** Seals the first and last minutes of series. They stay in memory, so that unchanged minutes are not stored again. */
function seenStage({ seen }: SpoolStore): Stage {
  return createStage(seen, (key, value, builder) => {
    const minutes = decodeSeen(value);
    const first = seriesRef(key.readUInt32BE(0), key.readUInt32BE(4) * cellsPerBlock);
    let rows = 0;
    for (let place = 0; place < cellsPerBlock; place += 1) {
      const last = minutes[place * seenWidth + 1]!;
      if (last === 0) continue;
      builder.name(first + place);
      builder.content.seen.push(first + place, minutes[place * seenWidth]!, last);
      rows += 1;
    }
    return rows;
  });
}

function exposuresStage(store: SpoolStore): Stage {
  const isPerson = (key: Buffer) => key.length > 4; // The other records hold the number of people in each environment.
  return {
    table: store.exposures,
    move(key, value, builder) {
      if (!isPerson(key)) return 0;
      const environment = key.readUInt32BE(0);
      const rows = Array.from(decodeExposures(value), ([ordinal, row]) => {
        return [ordinal, row.firstSeen, row.lastSeen, row.checks, row.used, row.viewed];
      });
      builder.nameRows(rows.flat(), 6, environment);
      builder.content.exposures.push({ environment, digest: Buffer.from(key.subarray(4)), rows: rows.flat() });
      return recordRows + rows.length;
    },
    remove(key) {
      if (isPerson(key)) removeExposures(store, key);
    },
  };
}

/** The key of a use has the application (u32), and the digest (16) and hash (32) of the instance id. */
function usesStage({ used }: SpoolStore): Stage {
  return createStage(used, (key, value, { content }) => {
    const digest = Buffer.from(key.subarray(4, 20));
    const hash = Buffer.from(key.subarray(20));
    const expiresAt = value.readDoubleLE(0);
    content.uses.push({ application: key.readUInt32BE(0), digest, hash, expiresAt });
    return recordRows;
  });
}
