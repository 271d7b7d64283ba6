import { seriesPerEnvironment } from './blocks.ts';
import { removeRange } from './key-prefix.ts';
import { readAt, type Snapshot } from './snapshot.ts';
import type { UsageTables } from './usage.ts';

/**
 * The storage format of sketches. A sketch counts the unique users of one series on one day (UTC): a HyperLogLog of 32
 * 768 registers (see aggregate/hyperloglog.ts), in 32 chunks of 1 024 registers. Each chunk is stored separately, so
 * that a change of a register writes only one chunk. A missing chunk is empty.
 *
 * Key, big-endian: environment (u32), day (u32, days since the epoch), series ordinal (u32), chunk (u8). The chunks of
 * a day of an environment are adjacent. A commit thus changes few pages, a report needs one range scan per day, and the
 * deletion of a day or an environment is one range.
 *
 * Value: a form (u8), then
 * - form 0, few users: ascending coupons (u32, little-endian), of which no two have the same first 26 bits;
 * - form 1, many users: 1 024 registers of 6 bits, four in three bytes, the first in the lowest bits.
 */
export const chunkKeyBytes = 13;
export const chunksPerSketch = 32;
export const registersPerChunk = 1024;

/** Bytes of the longest value: 1 024 registers. */
export const chunkValueBytes = 1 + (registersPerChunk / 4) * 3;

/** Maximum number of coupons in a chunk. Coupons must not need more space than registers. */
export const maxCoupons = (chunkValueBytes - 1) / 4;

/** The ordinal of the sketch of all users of an environment. No series has this ordinal. */
export const environmentOrdinal = seriesPerEnvironment - 1;

export type ChunkContent =
  | { readonly coupons: Uint32Array; readonly registers?: undefined }
  | { readonly registers: Uint8Array; readonly coupons?: undefined };

/** Writes a chunk's key for the series `ref` (see `seriesRef`) into `key`. */
export function writeChunkKey(key: Buffer, ref: number, day: number, chunk: number): void {
  const environment = Math.floor(ref / seriesPerEnvironment);
  key.writeUInt32BE(environment, 0);
  key.writeUInt32BE(day, 4);
  key.writeUInt32BE(ref - environment * seriesPerEnvironment, 8);
  key[12] = chunk;
}

/** The first key at or after an environment's day and ordinal, for range scans. */
export function chunkKeyFrom(environment: number, day: number, ordinal = 0): Buffer {
  const key = Buffer.alloc(chunkKeyBytes);
  key.writeUInt32BE(environment, 0);
  key.writeUInt32BE(day, 4);
  key.writeUInt32BE(ordinal, 8);
  return key;
}

/** The form of a chunk: the first byte of its value. */
export const formCoupons = 0;
export const formRegisters = 1;

/** Writes a chunk into `value`, which has `chunkValueBytes`. @returns the number of bytes written */
export function writeChunk(value: Buffer, content: ChunkContent): number {
  if (content.registers !== undefined) {
    value[0] = formRegisters;
    packRegisters(value, content.registers);
    return chunkValueBytes;
  }
  value[0] = formCoupons;
  content.coupons.forEach((coupon, index) => {
    value.writeUInt32LE(coupon, 1 + index * 4);
  });
  return 1 + content.coupons.length * 4;
}

/** Reads a chunk's value into new arrays. */
export function readChunk(value: Buffer): ChunkContent {
  if (value[0] === formRegisters) return { registers: unpackRegisters(value) };
  const coupons = new Uint32Array((value.length - 1) / 4);
  for (let index = 0; index < coupons.length; index++) coupons[index] = value.readUInt32LE(1 + index * 4);
  return { coupons };
}

function packRegisters(value: Buffer, registers: Uint8Array): void {
  for (let from = 0, to = 1; from < registersPerChunk; from += 4, to += 3) {
    const second = registers[from + 1]!;
    const third = registers[from + 2]!;
    value[to] = registers[from]! | (second << 6);
    value[to + 1] = (second >>> 2) | (third << 4);
    value[to + 2] = (third >>> 4) | (registers[from + 3]! << 2);
  }
}

function unpackRegisters(value: Buffer): Uint8Array {
  const registers = new Uint8Array(registersPerChunk);
  for (let to = 0, from = 1; to < registersPerChunk; to += 4, from += 3) {
    const four = value[from]! | (value[from + 1]! << 8) | (value[from + 2]! << 16);
    registers[to] = four & 63;
    registers[to + 1] = (four >>> 6) & 63;
    registers[to + 2] = (four >>> 12) & 63;
    registers[to + 3] = four >>> 18;
  }
  return registers;
}

interface StoredChunk {
  readonly ordinal: number;
  readonly chunk: number;
  readonly content: ChunkContent;
}

/** The chunks of an environment's day with `from ≤ ordinal < to`. The chunks of a sketch are adjacent. */
export function* sketchChunks(
  store: UsageTables,
  environment: number,
  day: number,
  from: number,
  to: number,
  at?: Snapshot,
): Generator<StoredChunk> {
  const range = { start: chunkKeyFrom(environment, day, from), end: chunkKeyFrom(environment, day, to), ...readAt(at) };
  for (const { key, value } of store.sketches.getRange(range)) {
    yield { ordinal: key.readUInt32BE(8), chunk: key[12]!, content: readChunk(value) };
  }
}

/** Deletes sketches from before a day. Call this in a transaction. @returns the number of chunks, at most `limit` */
export function deleteSketches(store: UsageTables, environment: number, before: number, limit: number): number {
  if (limit === 0) return 0;
  const range = { start: chunkKeyFrom(environment, 0), end: chunkKeyFrom(environment, before), limit };
  return removeRange(store.sketches, range);
}
