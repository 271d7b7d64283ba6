import type { Row } from './row.ts';

/** Settings that apply to all groups. */
export interface CompareOptions {
  /** True for short runs with few connections. Their figures have no meaning. */
  readonly small: boolean;
  readonly rounds: number;
  /** Duration in seconds of a run, and of the load before the first run. */
  readonly seconds: number;
  readonly warmup: number;
  /** Number of packets that are sent before resident memory is read. */
  readonly packets: number;
}

/** Figures that are measured together. The group has the name of the benchmark that measures them. */
export interface Group {
  /** Returns the expected duration in seconds. */
  seconds(options: CompareOptions): number;
  measure(binaries: readonly [previous: string, current: string], options: CompareOptions): Promise<readonly Row[]>;
}

/** Expected seconds for a run with its pause, and for starting both executables on fresh stores. */
export const runSeconds = (seconds: number): number => seconds + 0.3;
export const startSeconds = 2.5;

/** Smallest relative difference of medians that matters: for costs and speed, and for latencies. */
export const tolerances = { cost: 0.05, p50: 0.1, p99: 0.25 } as const;
