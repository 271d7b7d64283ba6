import { Refusal } from '../contract/errors.ts';

/** Entries allowed in every report: one of up to 64 KiB has no more bytes. */
const freeEntries = 65_536;

/**
 * Minimum average size of an entry in bytes. An entry is an object in JSON, and a nested message in protobuf. Entries of
 * published SDKs are several times as large, so only reports of empty entries exceed this.
 */
const bytesPerEntry = { json: 8, protobuf: 4 };

/** Maximum entries of a report by its size in bytes. */
export function maxEntries(format: keyof typeof bytesPerEntry, bytes: number): number {
  return freeEntries + Math.floor(bytes / bytesPerEntry[format]);
}

export const tooManyEntries = new Refusal(
  'body_too_large',
  'The report has more entries than its size allows; leave out empty ones',
);
