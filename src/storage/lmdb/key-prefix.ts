import type { Table } from './lmdb.ts';

/**
 * Encodes a number as a key prefix (u32, big-endian). Keys with the prefix sort before the prefix of the next number.
 */
export function prefixKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(number, 0);
  return key;
}

export function prefixedKey(number: number, rest: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(4 + rest.length);
  key.writeUInt32BE(number, 0);
  key.set(rest, 4);
  return key;
}

/** A key of two numbers (u32, big-endian). */
export function pairKey(first: number, second: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeUInt32BE(first, 0);
  key.writeUInt32BE(second, 4);
  return key;
}

/** Keys from `start` (inclusive) to `end` (exclusive), at most `limit`. */
interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly limit: number;
}

/** The keys of a range. They are copied, because LMDB reuses the buffers that it returns. */
export function keysIn(table: Table, range: KeyRange): Buffer[] {
  return Array.from(table.getKeys(range), (key) => Buffer.from(key));
}

/** Removes the records of a range. Call this in a transaction. @returns the number of records removed */
export function removeRange(table: Table, range: KeyRange): number {
  const keys = keysIn(table, range);
  for (const key of keys) table.removeSync(key);
  return keys.length;
}

/**
 * Removes records whose keys start with the number of an environment or an application. Call this in a transaction.
 * @returns the number of records removed, at most `limit`
 */
export function removeByPrefix(table: Table, number: number, limit: number): number {
  return removeRange(table, { start: prefixKey(number), end: prefixKey(number + 1), limit });
}
