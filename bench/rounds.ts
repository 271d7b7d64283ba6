import { note } from './benchmark.ts';
import { cpuSeconds, median, round } from './figures.ts';
import type { LoadReport } from './load.ts';

/** What of a load generator's report every generator gives. */
export type Run = Pick<LoadReport, 'requests' | 'rps' | 'p50' | 'p99' | 'cpuShare'>;

/** Sends load as fast as it is answered or, with a rate, so often a second. */
export type Drive<Report extends Run> = (open: { readonly rate?: number }) => Promise<Report>;

/** Options of a benchmark that is measured in rounds. */
export interface RoundOptions {
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly json: boolean;
}

export interface Rounds<Report extends Run> {
  /** Full speed, a report a round. */
  readonly floor: readonly Report[];
  readonly full: readonly Report[];
  /** Half of the service's rate, requests a second, and the service driven at it: an open loop. */
  readonly halfRate: number;
  readonly half: Report;
  /** CPU that the service took for a request at full speed, µs. */
  readonly cpuUs: number;
}

/** Drives the floor and the service in turn, so that both meet the same machine; then the service at half of its rate. */
export async function measureRounds<Report extends Run>(
  rounds: number,
  driveFloor: Drive<Report>,
  driveService: Drive<Report>,
  servicePid: number,
): Promise<Rounds<Report>> {
  const floor: Report[] = [];
  const full: Report[] = [];
  let cpu = 0;
  for (let turn = 1; turn <= rounds; turn++) {
    const bare = await driveFloor({});
    const before = cpuSeconds(servicePid);
    const whole = await driveService({});
    cpu += cpuSeconds(servicePid) - before;
    floor.push(bare);
    full.push(whole);
    note(`round ${turn}: floor ${round(bare.rps)}/s, flagmeter ${round(whole.rps)}/s`);
  }
  const halfRate = Math.max(1, median(full.map((run) => run.rps)) / 2);
  const half = await driveService({ rate: halfRate });
  const cpuUs = (cpu * 1e6) / full.reduce((sum, run) => sum + run.requests, 0);
  return { floor, full, halfRate, half, cpuUs };
}

/** The figures that every such benchmark ends in; the latencies are those at half rate. */
export function figuresOf({ floor, full, half }: Rounds<Run>) {
  return {
    floorRps: round(median(floor.map((run) => run.rps))),
    rps: round(median(full.map((run) => run.rps))),
    ratio: round(median(full.map((run, turn) => run.rps / (floor[turn]?.rps ?? Number.NaN))), 3),
    p50Ms: round(half.p50, 3),
    p99Ms: round(half.p99, 3),
  };
}

/**
 * How fast it all was, as rows of a table: medians where there were several rounds.
 * @param floorHalf the floor at the rate of `half`, if it was driven so
 */
export function speedRows<Quantile extends 'p50' | 'p90' | 'p99' | 'p999'>(
  unit: string,
  quantiles: readonly Quantile[],
  { floor, full, half }: Rounds<Run & Pick<LoadReport, Quantile>>,
  floorHalf?: Run & Pick<LoadReport, Quantile>,
): string[][] {
  const row = (name: string, runs: typeof full) => {
    const middle = (field: Quantile | 'rps' | 'cpuShare') => median(runs.map((run) => run[field]));
    const latencies = quantiles.map((quantile) => middle(quantile).toFixed(2));
    return [name, `${round(middle('rps'))}`, ...latencies, `${round(middle('cpuShare') * 100)} %`];
  };
  return [
    ['', `${unit}s/s`, ...quantiles.map((quantile) => `${quantile} ms`), 'generator CPU'],
    row('floor, full speed', floor),
    row('flagmeter, full speed', full),
    ...(floorHalf === undefined ? [] : [row('floor, half rate', [floorHalf])]),
    row('flagmeter, half rate', [half]),
  ];
}
