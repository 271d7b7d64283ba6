import type { Table } from './lmdb.ts';

/** The key of a number (u32, big-endian): what begins with it comes after, and before the next number's. */
export function prefixKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(number, 0);
  return key;
}

/**
 * Removes records whose keys begin with the number of an environment or an application; call it in a transaction.
 * @returns records removed, `limit` at the most
 */
export function removeByPrefix(table: Table, number: number, limit: number): number {
  const range = { start: prefixKey(number), end: prefixKey(number + 1), limit };
  const keys = [...table.getKeys(range)].map((key) => Buffer.from(key));
  for (const key of keys) table.removeSync(key);
  return keys.length;
}
