import { note } from './benchmark.ts';
import type { Measured } from './load-run.ts';
import { median, round } from './numbers.ts';
import { cpuSeconds, mainThreadSeconds } from './process-stats.ts';

/** The common part of all generators' reports. */
export type Run = Measured & { readonly requests: number };

/** Sends load at full speed or at a rate per second. */
export type Drive<Report extends Run> = (open: { readonly rate?: number }) => Promise<Report>;

/** A process under load. */
export interface Target<Report extends Run> {
  readonly name: string;
  readonly pid: number;
  readonly drive: Drive<Report>;
}

/** Measurements of a target at full speed. */
export interface FullSpeed<Report extends Run> {
  readonly name: string;
  /** One per round. */
  readonly runs: readonly Report[];
  /** CPU per request, µs: all threads, and the main thread. */
  readonly cpuUs: number;
  readonly mainUs: number;
}

export interface Rounds<Report extends Run> {
  /** The first one is the floor. */
  readonly floors: readonly FullSpeed<Report>[];
  readonly service: FullSpeed<Report>;
  /** Half of the service's rate, in requests per second, and the floor and the service driven at it, as open loops. */
  readonly halfRate: number;
  readonly floorHalf: Report;
  readonly half: Report;
}

/** Drives the floors and the service in turn, so that conditions are the same; then the floor and the service at half rate. */
export async function measureRounds<Report extends Run>(
  rounds: number,
  floors: readonly [Target<Report>, ...Target<Report>[]],
  service: Target<Report>,
): Promise<Rounds<Report>> {
  const sums = [...floors, service].map((target) => ({ target, runs: [] as Report[], cpu: 0, main: 0 }));
  for (let turn = 1; turn <= rounds; turn++) {
    for (const sum of sums) {
      const { pid, drive } = sum.target;
      const before = { cpu: cpuSeconds(pid), main: mainThreadSeconds(pid) };
      sum.runs.push(await drive({}));
      sum.cpu += cpuSeconds(pid) - before.cpu;
      sum.main += mainThreadSeconds(pid) - before.main;
    }
    const speeds = sums.map(({ target, runs }) => `${target.name} ${round(runs.at(-1)?.rps ?? 0)}/s`);
    note(`round ${turn}: ${speeds.join(', ')}`);
  }
  const all = sums.map(({ target, runs, cpu, main }) => {
    const requests = runs.reduce((sum, run) => sum + run.requests, 0);
    return { name: target.name, runs, cpuUs: (cpu * 1e6) / requests, mainUs: (main * 1e6) / requests };
  });
  const measured = all.pop() as FullSpeed<Report>;
  const halfRate = Math.max(1, median(measured.runs.map((run) => run.rps)) / 2);
  const half = await service.drive({ rate: halfRate });
  const floorHalf = await floors[0].drive({ rate: halfRate });
  return { floors: all, service: measured, halfRate, floorHalf, half };
}

/** Every run of the service. All of them must be in its counts. */
export function serviceRuns<Report extends Run>({ service, half }: Rounds<Report>): readonly Report[] {
  return [...service.runs, half];
}

/** The result of every such benchmark; latencies are those at half rate. */
export function summaryOf({ floors, service, half }: Rounds<Run>) {
  const [floor, ...others] = floors.map((each) => ({ ...each, ratio: ratioTo(each, service) }));
  return {
    floorRps: round(median(floor?.runs.map((run) => run.rps) ?? [])),
    rps: round(median(service.runs.map((run) => run.rps))),
    ratio: floor?.ratio ?? Number.NaN,
    p50Ms: round(half.p50, 3),
    p99Ms: round(half.p99, 3),
    ...Object.fromEntries(others.map(({ name, ratio }) => [`${name}Ratio`, ratio])),
  };
}

/** Speed of the service relative to a floor: the median of the ratios of the rounds. */
function ratioTo(floor: FullSpeed<Run>, service: FullSpeed<Run>): number {
  const ratios = service.runs.map((run, turn) => run.rps / (floor.runs[turn]?.rps ?? Number.NaN));
  return round(median(ratios), 3);
}

/** The service compared with each floor, as rows of one cell. */
export function ratioRows({ floors, service }: Rounds<Run>): string[][] {
  return floors.map((floor) => {
    const main = (service.mainUs / floor.mainUs).toFixed(2);
    return [
      `ratio to the ${floor.name} ${ratioTo(floor, service)}, main thread ${main} times as long a request`,
    ];
  });
}

type Quantile = 'p50' | 'p90' | 'p99' | 'p999';

/** All rates, as rows of a table: medians if there were several rounds. */
export function speedRows(
  unit: string,
  quantiles: readonly Quantile[],
  { floors, service, floorHalf, half }: Rounds<Run>,
): string[][] {
  const row = (name: string, runs: readonly Run[], cpu: readonly string[]) => {
    const middle = (field: Quantile | 'rps' | 'cpuShare') => median(runs.map((run) => run[field]));
    const latencies = quantiles.map((quantile) => middle(quantile).toFixed(2));
    return [name, `${round(middle('rps'))}`, ...latencies, `${round(middle('cpuShare') * 100)} %`, ...cpu];
  };
  const fullSpeed = [...floors, service].map(({ name, runs, cpuUs, mainUs }) =>
    row(`${name}, full speed`, runs, [cpuUs.toFixed(1), mainUs.toFixed(1)]),
  );
  const latencies = quantiles.map((quantile) => `${quantile} ms`);
  return [
    ['', `${unit}s/s`, ...latencies, 'generator CPU', `µs CPU/${unit}`, 'main thread'],
    ...fullSpeed,
    row('floor, half rate', [floorHalf], ['', '']),
    row(`${service.name}, half rate`, [half], ['', '']),
  ];
}
