import type { Row } from './row.ts';

/** Settings of all groups. */
export interface CompareOptions {
  readonly rounds: number;
  /** Length of a run, and of the load before the first one. */
  readonly seconds: number;
  readonly warmup: number;
  /** Packets before resident memory is read. */
  readonly packets: number;
}

/** Figures that are measured together, and have the name of their benchmark. */
export interface Group {
  /** Expected duration. */
  seconds(options: CompareOptions): number;
  measure(
    binaries: readonly [previous: string, current: string],
    options: CompareOptions,
  ): Promise<readonly Row[]>;
}

/** Expected duration of a run with its pause, and of starting both executables on fresh stores. */
export const runSeconds = ({ seconds }: Pick<CompareOptions, 'seconds'>): number => seconds * 1.2 + 0.5;
export const startSeconds = 2.5;

/** Differences of the medians that matter: of speed and costs, and of latencies. */
export const tolerances = { cost: 0.05, p50: 0.1, p99: 0.25 } as const;
