import { Refusal } from '../contract/errors.ts';

/** Number of entries allowed in a report of any size. Only reports over 64 KiB can contain more entries. */
const freeEntries = 65_536;

/**
 * Minimum average size of an entry in bytes. An entry is a JSON object or a nested protobuf message. SDKs send entries
 * several times as large. Only reports with many empty entries have a smaller average.
 */
const bytesPerEntry = { json: 8, protobuf: 4 };

/** Returns the maximum number of entries for a report of this size in bytes. */
export function maxEntries(format: keyof typeof bytesPerEntry, bytes: number): number {
  return freeEntries + Math.floor(bytes / bytesPerEntry[format]);
}

export const tooManyEntries = new Refusal(
  'body_too_large',
  'The report has more entries than its size allows; leave out empty entries',
);
