import type { LoadReport } from '../src/bench/load/plan.ts';
import { cpuSeconds, mainThreadSeconds } from '../src/bench/load/process-stats.ts';
import { note } from './benchmark.ts';
import { median, round } from './numbers.ts';

/** Sends load at full speed or at a rate per second. */
export type Drive = (open: { readonly rate?: number }) => Promise<LoadReport>;

/** A process under load. */
export interface Target {
  readonly name: string;
  readonly pid: number;
  readonly drive: Drive;
}

/** Measurements of a target at full speed. */
export interface FullSpeed {
  readonly name: string;
  /** One per round. */
  readonly runs: readonly LoadReport[];
  /** CPU per request, µs: all threads, and the main thread. */
  readonly cpuUs: number;
  readonly mainUs: number;
}

export interface Rounds {
  /** The first one is the floor. */
  readonly floors: readonly FullSpeed[];
  readonly service: FullSpeed;
  /** Half of the service's rate, in requests per second, and the floor and the service driven at it, as open loops. */
  readonly halfRate: number;
  readonly floorHalf: LoadReport;
  readonly half: LoadReport;
}

/** Drives the floors and the service in turn, so that conditions are the same; then the floor and the service at half rate. */
export async function measureRounds(
  rounds: number,
  floors: readonly [Target, ...Target[]],
  service: Target,
): Promise<Rounds> {
  const sums = [...floors, service].map((target) => ({ target, runs: [] as LoadReport[], cpu: 0, main: 0 }));
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
  const measured = all.pop() as FullSpeed;
  const halfRate = Math.max(1, median(measured.runs.map((run) => run.rps)) / 2);
  const half = await service.drive({ rate: halfRate });
  const floorHalf = await floors[0].drive({ rate: halfRate });
  return { floors: all, service: measured, halfRate, floorHalf, half };
}

/** Every run of the service. All of them must be in its counts. */
export function serviceRuns({ service, half }: Rounds): readonly LoadReport[] {
  return [...service.runs, half];
}

/** The result of every such benchmark; latencies are those at half rate. */
export function summaryOf({ floors, service, half }: Rounds) {
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
function ratioTo(floor: FullSpeed, service: FullSpeed): number {
  const ratios = service.runs.map((run, turn) => run.rps / (floor.runs[turn]?.rps ?? Number.NaN));
  return round(median(ratios), 3);
}

/** The service compared with each floor, as rows of one cell. */
export function ratioRows({ floors, service }: Rounds): string[][] {
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
  { floors, service, floorHalf, half }: Rounds,
): string[][] {
  const row = (name: string, runs: readonly LoadReport[], cpu: readonly string[]) => {
    const middle = (field: Quantile | 'rps' | 'cpuShare') => median(runs.map((run) => run[field]));
    const latencies = quantiles.map((quantile) => middle(quantile).toFixed(2));
    const own = runs[0]?.loop === 'open' ? median(runs.map((run) => run.own.p99)).toFixed(2) : '';
    const share = `${round(middle('cpuShare') * 100)} %`;
    return [name, `${round(middle('rps'))}`, ...latencies, own, share, ...cpu];
  };
  const fullSpeed = [...floors, service].map(({ name, runs, cpuUs, mainUs }) =>
    row(`${name}, full speed`, runs, [cpuUs.toFixed(1), mainUs.toFixed(1)]),
  );
  const latencies = quantiles.map((quantile) => `${quantile} ms`);
  return [
    ['', `${unit}s/s`, ...latencies, 'generator p99 ms', 'generator CPU', `µs CPU/${unit}`, 'main thread'],
    ...fullSpeed,
    row('floor, half rate', [floorHalf], ['', '']),
    row(`${service.name}, half rate`, [half], ['', '']),
  ];
}
