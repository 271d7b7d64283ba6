import { prefixKey } from './key-prefix.ts';
import type { Table } from './lmdb.ts';
import { readAt, type Snapshot } from './snapshot.ts';

export interface Counts {
  checks: number;
  used: number;
  viewed: number;
}

/**
 * A summary of a metric's values. It has the fields of both counters and gauges, because the kind of a metric can be
 * declared later. `lastAt` is Unix milliseconds.
 */
export interface Measurement {
  sum: number;
  count: number;
  last: number;
  lastAt: number;
  min: number;
  max: number;
}

/** The operations of one kind of cell. A cell holds the data of one series in one time bucket. */
export interface CellCodec<T> {
  /** Length of a stored cell. */
  readonly bytes: number;
  empty(): T;
  read(value: Buffer, at: number): T;
  write(value: Buffer, at: number, cell: T): void;
}

export const countsCodec: CellCodec<Counts> = {
  bytes: 24,
  empty: () => ({ checks: 0, used: 0, viewed: 0 }),
  read: (value, at) => ({
    checks: value.readDoubleLE(at),
    used: value.readDoubleLE(at + 8),
    viewed: value.readDoubleLE(at + 16),
  }),
  write(value, at, { checks, used, viewed }) {
    value.writeDoubleLE(checks, at);
    value.writeDoubleLE(used, at + 8);
    value.writeDoubleLE(viewed, at + 16);
  },
};

export const measurementCodec: CellCodec<Measurement> = {
  bytes: 48,
  empty: () => ({ sum: 0, count: 0, last: 0, lastAt: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }),
  read: (value, at) => ({
    sum: value.readDoubleLE(at),
    count: value.readDoubleLE(at + 8),
    last: value.readDoubleLE(at + 16),
    lastAt: value.readDoubleLE(at + 24),
    min: value.readDoubleLE(at + 32),
    max: value.readDoubleLE(at + 40),
  }),
  write(value, at, { sum, count, last, lastAt, min, max }) {
    value.writeDoubleLE(sum, at);
    value.writeDoubleLE(count, at + 8);
    value.writeDoubleLE(last, at + 16);
    value.writeDoubleLE(lastAt, at + 24);
    value.writeDoubleLE(min, at + 32);
    value.writeDoubleLE(max, at + 40);
  },
};

/**
 * The storage format of cells. Cells of neighbouring series in one bucket form a block, which is stored as one value,
 * because putting each cell separately costs more.
 *
 * Key, big-endian so that LMDB sorts it numerically: environment (u32), bucket width (u8), bucket start (u32, minutes
 * since the epoch), block (u32, a series' ordinal divided by the cells of a block). The blocks of a bucket of an
 * environment are adjacent. A commit thus changes few pages, and a report or the deletion of an environment needs one
 * range scan. Value, little-endian: a mask (u32) of the cells that are present, then these cells in order.
 */
export const cellsPerBlock = 32;
const keyBytes = 13;
const maskBytes = 4;

/** The bucket widths and their numbers in a key. */
export const bucketWidth = { minute: 0, hour: 1, day: 2 } as const;
export type BucketWidth = (typeof bucketWidth)[keyof typeof bucketWidth];

/** Encodes a bucket's width and its start, in minutes since the epoch, as one number. */
export function encodeBucket(width: BucketWidth, minute: number): number {
  return minute * bucketWidths + width;
}
const bucketWidths = 4;

/** The minute (since the epoch) at which a bucket starts. */
export function decodeMinute(bucket: number): number {
  return Math.floor(bucket / bucketWidths);
}

export function decodeWidth(bucket: number): BucketWidth {
  return (bucket % bucketWidths) as BucketWidth;
}

/** Exclusive maximum of an environment's series ordinals. A double can thus identify both environment and series. */
export const seriesPerEnvironment = 2 ** 20;

/**
 * Encodes an environment and the ordinal of a series as one number. Threads pass this number to each other instead of
 * names.
 */
export function seriesRef(environment: number, ordinal: number): number {
  return environment * seriesPerEnvironment + ordinal;
}

export const minutesPerDay = 1440;

/** The start of the bucket that contains a minute. @param minutes the length of the buckets */
export function floorTo(minute: number, minutes: number): number {
  return Math.floor(minute / minutes) * minutes;
}

/** The block of a series. Blocks are numbered over all environments, and no block spans two environments. */
export function computeBlock(ref: number): number {
  return Math.floor(ref / cellsPerBlock);
}

export type Block<T> = (T | undefined)[];

export function blockKey(block: number, bucket: number): Buffer {
  const environment = Math.floor(block / blocksPerEnvironment);
  return writeKey(environment, decodeWidth(bucket), decodeMinute(bucket), block % blocksPerEnvironment);
}

export const blocksPerEnvironment = seriesPerEnvironment / cellsPerBlock;

/** The position of a block among all blocks of its width, sorted by the start of the bucket and then by number. */
export function computePlace(minute: number, block = 0): number {
  return minute * blocksPerEnvironment + (block % blocksPerEnvironment);
}

/** A range of blocks of an environment and a width: `from` inclusive, `to` exclusive. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

export interface StoredBlock<T> {
  readonly key: Buffer;
  readonly minute: number;
  readonly firstRef: number;
  readonly cells: Block<T>;
}

/** At most `limit` blocks of an environment, in order. */
export function blocksAt<T>(
  table: Table,
  codec: CellCodec<T>,
  environment: number,
  width: BucketWidth,
  places: Places,
  limit: number,
): StoredBlock<T>[] {
  const range = { ...createKeyRange(environment, width, places), limit };
  return Array.from(table.getRange(range), ({ key, value }) => ({
    key: Buffer.from(key),
    minute: key.readUInt32BE(5),
    firstRef: seriesRef(environment, key.readUInt32BE(9) * cellsPerBlock),
    cells: decodeBlock(value, codec),
  }));
}

/** Encodes the blocks of one table into reused memory. LMDB copies values that are put inside a transaction. */
export class BlockEncoder<T> {
  readonly #codec: CellCodec<T>;
  readonly #memory: Buffer;
  /** Views of the memory, by number of cells. */
  readonly #values: readonly Buffer[];

  constructor(codec: CellCodec<T>) {
    this.#codec = codec;
    this.#memory = Buffer.from(new ArrayBuffer(maskBytes + cellsPerBlock * codec.bytes));
    this.#values = Array.from({ length: cellsPerBlock + 1 }, (_, cells) =>
      this.#memory.subarray(0, maskBytes + cells * codec.bytes),
    );
  }

  /** A block's value, valid until the next value is encoded. */
  encode(block: Block<T>): Buffer {
    const memory = this.#memory;
    const codec = this.#codec;
    let mask = 0;
    let cells = 0;
    for (let place = 0; place < cellsPerBlock; place += 1) {
      const cell = block[place];
      if (cell === undefined) continue;
      mask |= 1 << place;
      codec.write(memory, maskBytes + cells * codec.bytes, cell);
      cells += 1;
    }
    memory.writeUInt32LE(mask >>> 0, 0);
    return this.#values[cells]!;
  }
}

export function decodeBlock<T>(value: Buffer, codec: CellCodec<T>): Block<T> {
  const mask = value.readUInt32LE(0);
  const block: Block<T> = new Array(cellsPerBlock).fill(undefined);
  let at = maskBytes;
  for (let place = 0; place < cellsPerBlock; place += 1) {
    if ((mask & (1 << place)) === 0) continue;
    block[place] = codec.read(value, at);
    at += codec.bytes;
  }
  return block;
}

/** One cell of a scan: its bucket's start in minutes since the epoch, its series' ordinal, and its value. */
export interface Cell<T> {
  readonly minute: number;
  readonly ordinal: number;
  readonly value: T;
}

/** The cells of an environment with `from ≤ bucket start < to` (minutes since the epoch), oldest bucket first. */
export function* scanCells<T>(
  table: Table,
  codec: CellCodec<T>,
  environment: number,
  width: BucketWidth,
  from: number,
  to: number,
  at?: Snapshot,
): Generator<Cell<T>> {
  const places = { from: computePlace(from), to: computePlace(to) };
  for (const { minute, first, value } of rawBlocks(table, environment, width, places, at))
    for (const [place, cell] of decodeBlock(value, codec).entries())
      if (cell !== undefined) yield { minute, ordinal: first + place, value: cell };
}

export interface RawBlock {
  readonly minute: number;
  /** The ordinal of the first series of the block. */
  readonly first: number;
  /** The encoded block, valid until the next block is read. */
  readonly value: Buffer;
}

/** The blocks of an environment in order, not decoded. */
export function* rawBlocks(
  table: Table,
  environment: number,
  width: BucketWidth,
  places: Places,
  at?: Snapshot,
): Generator<RawBlock> {
  for (const { key, value } of table.getRange({ ...createKeyRange(environment, width, places), ...readAt(at) })) {
    yield { minute: key.readUInt32BE(5), first: key.readUInt32BE(9) * cellsPerBlock, value };
  }
}

/** The numbers of the environments whose keys are in a table, ascending. */
export function* numbersOfEnvironments(table: Table): Generator<number> {
  for (let number = 0; number < 2 ** 32; number += 1) {
    const [key] = table.getKeys({ start: prefixKey(number), limit: 1 });
    if (key === undefined) return;
    number = key.readUInt32BE(0);
    yield number;
  }
}

/** The minute at which the last bucket of a width starts; `undefined` if an environment has no such bucket. */
export function lastBucket(table: Table, environment: number, width: BucketWidth): number | undefined {
  const start = writeKey(environment, width, 2 ** 32 - 1, 0);
  const end = writeKey(environment, width, 0, 0);
  const [key] = table.getKeys({ start, end, reverse: true, limit: 1 });
  return key?.readUInt32BE(5);
}

function createKeyRange(environment: number, width: BucketWidth, { from, to }: Places) {
  const keyAt = (place: number) =>
    writeKey(environment, width, Math.floor(place / blocksPerEnvironment), place % blocksPerEnvironment);
  return { start: keyAt(from), end: keyAt(to) };
}

function writeKey(environment: number, width: BucketWidth, minute: number, block: number): Buffer {
  const key = Buffer.allocUnsafe(keyBytes);
  key.writeUInt32BE(environment, 0);
  key[4] = width;
  key.writeUInt32BE(minute, 5);
  key.writeUInt32BE(block, 9);
  return key;
}

/** Retention of the buckets of each width, ms. */
export interface Retention {
  readonly minutesMs: number;
  readonly hoursMs: number;
  readonly daysMs: number;
}

/**
 * The start of each width's range, in minutes since the epoch. Data older than `minutes` is in hour buckets, data older
 * than `hours` in day buckets, and data older than `days` is deleted. Each horizon is the start of a bucket of the next
 * width, so that such a bucket is always rolled up as a whole.
 */
export interface Horizons {
  readonly minutes: number;
  readonly hours: number;
  readonly days: number;
}

const hour = 60;
const day = minutesPerDay;

/** The horizons at `now` (Unix ms). */
export function horizonsAt(now: number, { minutesMs, hoursMs, daysMs }: Retention): Horizons {
  const floor = (ms: number, width: number) => Math.max(0, floorTo((now - ms) / 60_000, width));
  return { minutes: floor(minutesMs, hour), hours: floor(hoursMs, day), days: floor(daysMs, day) };
}

/** The first minute (since the epoch) of the oldest day that is still kept 24 hours after `now` (Unix ms). */
export function oldestWholeDay(now: number, { daysMs }: Retention): number {
  return Math.max(0, Math.ceil((now - daysMs) / 60_000 / day) * day);
}

export function bucketAt(minute: number, horizons: Horizons): number {
  if (minute >= horizons.minutes) return encodeBucket(bucketWidth.minute, minute);
  if (minute >= horizons.hours) return encodeBucket(bucketWidth.hour, floorTo(minute, hour));
  return encodeBucket(bucketWidth.day, floorTo(minute, day));
}

/** The start of the bucket that holds `minute`, after all due roll-ups. */
export function floorToBucket(minute: number, horizons: Horizons): number {
  if (minute >= horizons.minutes) return minute;
  return floorTo(minute, minute >= horizons.hours ? hour : day);
}

/** The start of the first bucket that begins at or after `minute`, after all due roll-ups. */
export function ceilToBucket(minute: number, horizons: Horizons): number {
  const floor = floorToBucket(minute, horizons);
  if (floor === minute) return minute;
  return floor + (minute >= horizons.hours ? hour : day);
}
