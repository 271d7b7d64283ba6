/**
 * How a cell lies in the usage store. A cell is what one series did in one bucket of time.
 *
 * Key, big-endian so that LMDB's order is ours: environment (u32), resolution (u8), bucket start (u32, minutes since
 * the epoch), series ordinal (u32). An environment's bucket lies together: a commit dirties few pages, a report is
 * one range scan, and deleting an environment is one range.
 * Values are little-endian doubles.
 */
export const cellKeyBytes = 13;

/** Widths of buckets, by the number in the key. */
export const resolution = { minute: 0, hour: 1, day: 2 } as const;
export type Resolution = (typeof resolution)[keyof typeof resolution];

/** Ordinals of one environment's series stay below this, so that one double names environment and series. */
export const seriesPerEnvironment = 2 ** 20;

/** One number for a series of an environment: what a batch carries across threads instead of names. */
export function seriesRef(environment: number, ordinal: number): number {
  return environment * seriesPerEnvironment + ordinal;
}

/** Writes a cell's key for the series `ref` into `key`. */
export function writeCellKey(key: Buffer, ref: number, width: Resolution, minute: number): void {
  const environment = Math.floor(ref / seriesPerEnvironment);
  key.writeUInt32BE(environment, 0);
  key[4] = width;
  key.writeUInt32BE(minute, 5);
  key.writeUInt32BE(ref - environment * seriesPerEnvironment, 9);
}

/** The first key at or after a bucket of an environment, for range scans. */
export function cellKeyFrom(environment: number, width: Resolution, minute: number): Buffer {
  const key = Buffer.alloc(cellKeyBytes);
  writeCellKey(key, seriesRef(environment, 0), width, minute);
  return key;
}

/** Bucket start (minutes since the epoch) and series ordinal of a key. */
export function readCellKey(key: Buffer): { minute: number; ordinal: number } {
  return { minute: key.readUInt32BE(5), ordinal: key.readUInt32BE(9) };
}

/** How often a variant was checked, used and viewed. */
export interface Counts {
  checks: number;
  used: number;
  viewed: number;
}

export const countsBytes = 24;

/** Writes counts as a cell's value. */
export function writeCounts(value: Buffer, counts: Counts): void {
  value.writeDoubleLE(counts.checks, 0);
  value.writeDoubleLE(counts.used, 8);
  value.writeDoubleLE(counts.viewed, 16);
}

/** Reads a count cell's value. */
export function readCounts(value: Buffer): Counts {
  return { checks: value.readDoubleLE(0), used: value.readDoubleLE(8), viewed: value.readDoubleLE(16) };
}

/**
 * What is kept of a metric's values: enough to read it as a counter or as a gauge, whichever it is declared to be later.
 * `lastAt` is Unix milliseconds.
 */
export interface Measurement {
  sum: number;
  count: number;
  last: number;
  lastAt: number;
  min: number;
  max: number;
}

export const measurementBytes = 48;

/** Writes a measurement as a cell's value. */
export function writeMeasurement(value: Buffer, measurement: Measurement): void {
  value.writeDoubleLE(measurement.sum, 0);
  value.writeDoubleLE(measurement.count, 8);
  value.writeDoubleLE(measurement.last, 16);
  value.writeDoubleLE(measurement.lastAt, 24);
  value.writeDoubleLE(measurement.min, 32);
  value.writeDoubleLE(measurement.max, 40);
}

/** Reads a measurement cell's value. */
export function readMeasurement(value: Buffer): Measurement {
  return {
    sum: value.readDoubleLE(0),
    count: value.readDoubleLE(8),
    last: value.readDoubleLE(16),
    lastAt: value.readDoubleLE(24),
    min: value.readDoubleLE(32),
    max: value.readDoubleLE(40),
  };
}
