export interface Counts {
  checks: number;
  used: number;
  viewed: number;
}

/**
 * A summary of a metric's values, sufficient to read it as a counter or as a gauge: its kind may be declared later.
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

/** The operations of one kind of cell. A cell holds the data of one series in one time bucket. */
export interface CellCodec<T> {
  /** Length of a stored cell. */
  readonly bytes: number;
  empty(): T;
  read(value: Buffer, at: number): T;
  write(value: Buffer, at: number, cell: T): void;
}

export const countsCodec: CellCodec<Counts> = {
  bytes: 24,
  empty: () => ({ checks: 0, used: 0, viewed: 0 }),
  read: (value, at) => ({
    checks: value.readDoubleLE(at),
    used: value.readDoubleLE(at + 8),
    viewed: value.readDoubleLE(at + 16),
  }),
  write(value, at, { checks, used, viewed }) {
    value.writeDoubleLE(checks, at);
    value.writeDoubleLE(used, at + 8);
    value.writeDoubleLE(viewed, at + 16);
  },
};

export const measurementCodec: CellCodec<Measurement> = {
  bytes: 48,
  empty: () => ({
    sum: 0,
    count: 0,
    last: 0,
    lastAt: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  }),
  read: (value, at) => ({
    sum: value.readDoubleLE(at),
    count: value.readDoubleLE(at + 8),
    last: value.readDoubleLE(at + 16),
    lastAt: value.readDoubleLE(at + 24),
    min: value.readDoubleLE(at + 32),
    max: value.readDoubleLE(at + 40),
  }),
  write(value, at, { sum, count, last, lastAt, min, max }) {
    value.writeDoubleLE(sum, at);
    value.writeDoubleLE(count, at + 8);
    value.writeDoubleLE(last, at + 16);
    value.writeDoubleLE(lastAt, at + 24);
    value.writeDoubleLE(min, at + 32);
    value.writeDoubleLE(max, at + 40);
  },
};
