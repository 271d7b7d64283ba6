import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** Reported counts of variants: `ref` is the series (see `seriesRef`), `bucket` the time bucket (see `bucketOf`). */
export class CountRecords extends RecordBuffer {
  add(ref: number, bucket: number, checks: number, used: number, viewed: number): void {
    this.append(ref, bucket, checks, used, viewed);
  }
}

/** Reads the counts of a sealed batch in the order in which they were added. */
export function eachCount({ counts, batch, apart }: Envelope, visit: CountRecords['add']): void {
  eachRecord(counts, batch, visit, apart?.counts);
}
