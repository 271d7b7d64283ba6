import { setTimeout as pause } from 'node:timers/promises';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { note } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { cpuSeconds, mainThreadSeconds } from './process-stats.ts';

/** The load of a run: full speed, or a rate per second. Other values replace settings of the benchmark. */
export interface Open {
  readonly rate?: number;
  readonly seconds?: number;
  readonly connections?: number;
}

/** Sends a load. */
export type Drive = (open: Open) => Promise<LoadReport>;

/** A process under load. */
export interface Target {
  readonly name: string;
  readonly pid: number;
  readonly drive: Drive;
  /** Reads the number of commits so far; `null` if the target does not report commits. */
  readonly commits?: () => Promise<number | null>;
}

/** A run of a target. */
export interface Run extends LoadReport {
  /** CPU time per request, µs: of all threads, and of the main thread. */
  readonly cpuUs: number;
  readonly mainUs: number;
  /** Commits during the run; `null` if the target does not report commits. */
  readonly commits: number | null;
}

/** A target and its runs, one per round. */
export interface Driven {
  readonly name: string;
  readonly runs: readonly Run[];
}

export interface Rounds {
  /** Runs at full speed. The ratio compares the service with the first floor. */
  readonly floors: readonly Driven[];
  readonly service: Driven;
  /** Runs of the floor and of the service at half of the service's rate, as open loops. */
  readonly floorHalf: Run;
  readonly half: Run;
}

/** Pause before a run. During the pause, the previous process finishes most of its background work, such as a fold. */
const settleMs = 200;

/**
 * Runs steps alternately, so that conditions are the same. Every other round has the reverse order, so that no step
 * always follows the same step.
 * @returns the results of each step, one per round
 */
export async function inTurn<Result>(rounds: number, steps: readonly (() => Promise<Result>)[]): Promise<Result[][]> {
  const results: Result[][] = steps.map(() => []);
  const order = [...steps.keys()];
  for (let turn = 0; turn < rounds; turn++) {
    for (const at of turn % 2 === 0 ? order : order.toReversed()) {
      await pause(settleMs);
      results[at]!.push(await steps[at]!());
    }
  }
  return results;
}

/** Sends a load to several targets alternately. */
export async function driveInTurn(rounds: number, targets: readonly Target[], open: Open): Promise<Driven[]> {
  const results = await inTurn(
    rounds,
    targets.map((target) => () => drive(target, open)),
  );
  return results.map((runs, at) => ({ name: targets[at]!.name, runs }));
}

/** Sends a load to a target, and measures the target's CPU time and commits. */
export async function drive({ name, pid, drive, commits }: Target, open: Open): Promise<Run> {
  const read = async () => ({
    cpu: cpuSeconds(pid),
    main: mainThreadSeconds(pid),
    commits: (await commits?.()) ?? null,
  });
  const before = await read();
  const report = await drive(open);
  const after = await read();
  note(`${name}${open.rate === undefined ? '' : `, ${round(open.rate)}/s offered`}: ${round(report.rps)}/s`);
  return {
    ...report,
    cpuUs: ((after.cpu - before.cpu) * 1e6) / report.requests,
    mainUs: ((after.main - before.main) * 1e6) / report.requests,
    commits: after.commits === null || before.commits === null ? null : after.commits - before.commits,
  };
}

/** Minimum rate of an open loop. A short run on a busy machine then still has requests to measure. */
export const leastRate = 100;

/** Drives the floors and the service alternately at full speed; then the first floor and the service at half rate. */
export async function measureRounds(
  rounds: number,
  floors: readonly [Target, ...Target[]],
  service: Target,
): Promise<Rounds> {
  const driven = await driveInTurn(rounds, [...floors, service], {});
  const measured = driven.pop() as Driven;
  const rate = Math.max(leastRate, middle(measured, 'rps') / 2);
  const [half, floorHalf] = await driveInTurn(1, [service, floors[0]], { rate });
  return { floors: driven, service: measured, floorHalf: floorHalf!.runs[0]!, half: half!.runs[0]! };
}

/** Returns the median of a figure over the runs of a target. */
export function middle({ runs }: Driven, figure: 'rps' | 'cpuUs' | 'mainUs'): number {
  return median(runs.map((run) => run[figure]));
}

/** Returns the commits of the service in all runs; `null` if the service does not report commits. */
export function commitsIn({ service, half }: Rounds): number | null {
  const commits = [...service.runs, half].map((run) => run.commits);
  return commits.every((each) => each !== null) ? commits.reduce((sum, each) => sum + each, 0) : null;
}

/**
 * Returns the result of a benchmark with floors. Latencies are measured at half of the service's rate at full speed.
 */
export function summarizeRounds({ floors, service, half }: Rounds) {
  const [floor, ...others] = floors.map((each) => ({ ...each, ratio: ratioTo(each, service) }));
  return {
    floorRps: floor === undefined ? Number.NaN : round(middle(floor, 'rps')),
    rps: round(middle(service, 'rps')),
    ratio: floor?.ratio ?? Number.NaN,
    p50Ms: round(half.p50, 3),
    p99Ms: round(half.p99, 3),
    ...Object.fromEntries(others.map(({ name, ratio }) => [`${name}Ratio`, ratio])),
  };
}

/** Returns the speed of the service relative to a floor: the median of the ratios of all rounds. */
function ratioTo(floor: Driven, service: Driven): number {
  const ratios = service.runs.map((run, turn) => run.rps / (floor.runs[turn]?.rps ?? Number.NaN));
  return round(median(ratios), 3);
}

/** Returns a remark about the ratio of the service to each floor, as rows of one cell. */
export function ratioRows({ floors, service }: Rounds): string[][] {
  return floors.map((floor) => {
    const main = (middle(service, 'mainUs') / middle(floor, 'mainUs')).toFixed(2);
    return [
      `ratio to the ${floor.name} ${ratioTo(floor, service)}, CPU of the main thread per request ${main} times as high`,
    ];
  });
}

type Quantile = 'p50' | 'p90' | 'p99' | 'p999';

/** Returns all rates as rows of a table. With several rounds, rates are medians. */
export function speedRows(
  unit: string,
  quantiles: readonly Quantile[],
  { floors, service, floorHalf, half }: Rounds,
): string[][] {
  const row = (name: string, runs: readonly LoadReport[], cpu: readonly string[]) => {
    const typical = (field: Quantile | 'rps' | 'cpuShare') => median(runs.map((run) => run[field]));
    const latencies = quantiles.map((quantile) => typical(quantile).toFixed(2));
    const own = runs[0]?.loop === 'open' ? median(runs.map((run) => run.own.p99)).toFixed(2) : '';
    const share = `${round(typical('cpuShare') * 100)} %`;
    return [name, `${round(typical('rps'))}`, ...latencies, own, share, ...cpu];
  };
  const fullSpeed = [...floors, service].map((each) =>
    row(
      `${each.name}, full speed`,
      each.runs,
      (['cpuUs', 'mainUs'] as const).map((figure) => middle(each, figure).toFixed(1)),
    ),
  );
  const latencies = quantiles.map((quantile) => `${quantile} ms`);
  return [
    ['', `${unit}s/s`, ...latencies, 'generator p99 ms', 'generator CPU', `µs CPU/${unit}`, 'main thread'],
    ...fullSpeed,
    row('floor, half rate', [floorHalf], ['', '']),
    row(`${service.name}, half rate`, [half], ['', '']),
  ];
}
