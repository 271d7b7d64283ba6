import { randomBytes as systemRandom } from 'node:crypto';

/** A position in one of the two logs: a version of the accounts, or an entry of usage. Both are numbered 1, 2, 3 and so on. */
export interface LogPosition {
  readonly position: number;
  /** Random, as decimal text. Two histories of a database may share a position, but never an id. */
  readonly id: string;
}

/** Before the first entry. */
export const logStart: LogPosition = { position: 0, id: '0' };

/** Whether both are the same entry of the same history. */
export function isSameEntry(one: LogPosition, other: LogPosition): boolean {
  return one.position === other.position && one.id === other.id;
}

/** Generates the id of an entry: a positive number of 63 bits. */
export function newLogId(randomBytes: (length: number) => Uint8Array = systemRandom): string {
  return String(Buffer.from(randomBytes(8)).readBigUInt64BE() >> 1n);
}
