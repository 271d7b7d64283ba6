import type { Table } from './lmdb.ts';

/** A number as a key prefix (u32, big-endian). Keys with the prefix sort from it up to the prefix of the next number. */
export function prefixKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(number, 0);
  return key;
}

/**
 * Removes records whose keys start with the number of an environment or an application. Call it in a transaction.
 * @returns records removed, at most `limit`
 */
export function removeByPrefix(table: Table, number: number, limit: number): number {
  const range = { start: prefixKey(number), end: prefixKey(number + 1), limit };
  const keys = [...table.getKeys(range)].map((key) => Buffer.from(key));
  for (const key of keys) table.removeSync(key);
  return keys.length;
}
