import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** Reported values of metrics, each with its time `at` (Unix ms), by series and time bucket. */
export class MeasurementRecords extends RecordBuffer {
  add(ref: number, bucket: number, value: number, at: number): void {
    this.append(ref, bucket, value, at, 0);
  }
}

/** Reads the measurements of a sealed batch in the order in which they were added. */
export function eachMeasurement(
  { measurements, batch, apart }: Envelope,
  visit: MeasurementRecords['add'],
): void {
  eachRecord(measurements, batch, visit, apart?.measurements);
}
