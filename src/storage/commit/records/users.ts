import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** Users of series in a minute (since the epoch), each by both halves of the user's hash. */
export class UserRecords extends RecordBuffer {
  add(ref: number, minute: number, high: number, low: number): void {
    this.append(ref, minute, high, low, 0);
  }
}

/** Reads the users of a sealed batch in the order in which they were added. */
export function eachUser({ users, batch, apart }: Envelope, visit: UserRecords['add']): void {
  eachRecord(users, batch, visit, apart?.users);
}
