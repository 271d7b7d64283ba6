import { ApiError } from '../contract/errors.ts';

/** Entries that every report may have: one of up to 64 KiB has no more bytes. */
const freeEntries = 65_536;

/**
 * Bytes that an entry takes at least, on average. An object of JSON is an entry, and a message within a message of
 * protobuf. Those of published SDKs take several times as much, so only reports of empty entries have more.
 */
const bytesPerEntry = { json: 8, protobuf: 4 };

/** Entries that a report of some bytes may have. */
export function maxEntries(format: keyof typeof bytesPerEntry, bytes: number): number {
  return freeEntries + Math.floor(bytes / bytesPerEntry[format]);
}

/** The refusal of a report that has more entries than its size allows. */
export const tooManyEntries = new ApiError(
  'body_too_large',
  'The report has more entries than its size allows; leave out those that are empty',
);
