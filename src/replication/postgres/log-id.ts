import { randomBytes as systemRandom } from 'node:crypto';

/**
 * Makes the id of a change or of an entry: a random positive number of 63 bits, in decimal. Two histories of an engine may
 * have the same position, and never the same id.
 */
export function newLogId(randomBytes: (length: number) => Uint8Array = systemRandom): string {
  return String(Buffer.from(randomBytes(8)).readBigUInt64BE() >> 1n);
}
