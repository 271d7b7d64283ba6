import type { Row } from './row.ts';

/** Settings of all groups. */
export interface CompareOptions {
  /** True for short runs with few connections, whose figures mean nothing. */
  readonly small: boolean;
  readonly rounds: number;
  /** Length of a run, and of the load before the first one. */
  readonly seconds: number;
  readonly warmup: number;
  /** Number of packets before resident memory is read. */
  readonly packets: number;
}

/** Figures that are measured together. A group has the name of the benchmark that measures them. */
export interface Group {
  /** Returns the expected duration. */
  seconds(options: CompareOptions): number;
  measure(binaries: readonly [previous: string, current: string], options: CompareOptions): Promise<readonly Row[]>;
}

/** Returns the expected duration of a run with its pause, and of starting both executables on fresh stores. */
export const runSeconds = (seconds: number): number => seconds + 0.3;
export const startSeconds = 2.5;

/** Minimum differences of the medians that matter: for costs and speed, and for latencies. */
export const tolerances = { cost: 0.05, p50: 0.1, p99: 0.25 } as const;
