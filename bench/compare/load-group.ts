import { beginTrial, type Comparison, startFloors } from '../beside-floor.ts';
import { median } from '../numbers.ts';
import { drive, inTurn, leastRate, type Open, type Run, type Target } from '../rounds.ts';
import { type CompareOptions, type Group, runSeconds, startSeconds, tolerances } from './group.ts';
import { createRows, type Figure, type Row } from './row.ts';
import { prepareSides, type Side, type Sides, sampleSides } from './sides.ts';

/** A number of connections at which the group measures. */
interface Section {
  readonly connections: number;
  /** True to measure the floor, too. */
  readonly floor: boolean;
  /** True to measure latencies at half of the peak rate, too. */
  readonly half: boolean;
}

/** A run of an executable, and the run of the floor in the same round. */
interface Sample extends Run {
  readonly floor?: Run | undefined;
}

type StartedTrial = Awaited<ReturnType<typeof beginTrial>>;

/**
 * Creates a group that compares two executables and the floor of a benchmark. All of them receive the load of this
 * benchmark.
 */
export function loadGroup<Own extends string>(
  name: string,
  comparison: Comparison<Own>,
  sections: readonly Section[] = [{ connections: comparison.defaults.connections, floor: true, half: true }],
): Group {
  const runs = sections.reduce((sum, { floor, half }) => sum + 2 + Number(floor) + 2 * Number(half), 0);
  return {
    seconds: (options) =>
      startSeconds + 3 * runSeconds(options.warmup) + options.rounds * runs * runSeconds(options.seconds * 1.2),
    async measure(binaries, options) {
      const { seconds, warmup } = options;
      const base = options.small ? comparison.small : comparison.defaults;
      const sides = await prepareSides(binaries, async (side, binary) => {
        const started = await beginTrial(side, comparison, binary, { ...base, seconds });
        await driveAccepted(started.target, { seconds: warmup });
        return started;
      });
      const started = sides.map((side) => side.trial).find((each) => each !== undefined);
      const floor = started && (await startFloors(comparison, started.trial))[0];
      await floor?.drive({ seconds: warmup });
      const rows: (() => Row[])[] = [];
      for (const section of sections) {
        const connections = Math.min(section.connections, base.connections);
        rows.push(await measureSection(name, comparison.unit, { ...section, connections }, sides, floor, options));
      }
      for (const side of sides) await side.attempt(({ trial }) => trial.verify());
      return rows.flatMap((each) => each());
    },
  };
}

/**
 * Measures full speed, and then half of the slower executable's speed.
 * @returns the rows, which may be read after the counts are verified
 */
async function measureSection(
  group: string,
  unit: string,
  { connections, floor: withFloor, half: withHalf }: Section,
  sides: Sides<StartedTrial>,
  floor: Target | undefined,
  { rounds }: CompareOptions,
): Promise<() => Row[]> {
  const full = await driveSides(rounds, sides, withFloor ? floor : undefined, { connections });
  const peaks = sides.flatMap((side, at) => {
    const runs = side.available(full[at]!);
    return runs.length > 0 ? [median(runs.map(({ rps }) => rps))] : [];
  });
  const rate = Math.max(leastRate, Math.min(...peaks) / 2);
  const half = withHalf
    ? await sampleSides(rounds, sides, ({ target }) => driveAccepted(target, { connections, rate }))
    : undefined;
  const place = `${group}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
  const kept = <Each>(each: readonly (readonly (Each | undefined)[])[]) =>
    sides.map((side, at) => side.available(each[at]!)) as [Each[], Each[]];
  return () => [
    ...createRows(place, fullFigures(unit, withFloor), kept(full)),
    ...(half === undefined ? [] : createRows(place, halfFigures, kept(half))),
  ];
}

/** Sends the load to the floor and to both executables in alternating rounds. */
async function driveSides(
  rounds: number,
  sides: Sides<StartedTrial>,
  floor: Target | undefined,
  open: Open,
): Promise<(Sample | undefined)[][]> {
  const onSide = (side: Side<StartedTrial>) => () => side.attempt(({ target }) => driveAccepted(target, open));
  const onFloor = floor === undefined ? [] : [() => drive(floor, open)];
  const results = await inTurn<Run | undefined>(rounds, [...sides.map(onSide), ...onFloor]);
  const [previous, current, floors] = results;
  const beside = (run: Run | undefined, turn: number): Sample | undefined => run && { ...run, floor: floors?.[turn] };
  return [previous!.map(beside), current!.map(beside)];
}

/** Maximum number of attempts. On a busy machine, a new server can fail to respond during a short run. */
const mostAttempts = 10;

/** Repeats a run until the target responds. @throws {Error} if the target does not accept every request */
export async function driveAccepted(target: Target, open: Open): Promise<Run> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const run = await drive(target, open);
    if (Object.keys(run.errors).length > 0) throw new Error(`requests are not accepted: ${JSON.stringify(run.errors)}`);
    if (run.requests > 0) return run;
  }
  throw new Error('requests get no response');
}

const { cost, p50, p99 } = tolerances;

/** Figures of a run at full speed. */
export const speedFigures = (unit: string): readonly Figure<Run>[] => [
  { name: `${unit}s/s`, of: (run) => run.rps, better: 'more', tolerance: cost },
  { name: 'p50, ms', of: (run) => run.p50, better: 'less', tolerance: p50 },
  { name: 'p99, ms', of: (run) => run.p99, better: 'less', tolerance: p99 },
  { name: `CPU per ${unit}, µs`, of: (run) => run.cpuUs, better: 'less', tolerance: cost },
];

function fullFigures(unit: string, beside: boolean): readonly Figure<Sample>[] {
  const toFloor = (figure: 'rps' | 'cpuUs') => (run: Sample) => run[figure] / (run.floor?.[figure] ?? NaN);
  const floors: readonly Figure<Sample>[] = [
    { name: 'speed ÷ floor', of: toFloor('rps'), better: 'more', tolerance: cost },
    { name: 'CPU ÷ floor', of: toFloor('cpuUs'), better: 'less', tolerance: cost },
  ];
  return [
    ...speedFigures(unit),
    ...(beside ? floors : []),
    // A lower value can mean longer waits, because more waiting requests share a commit. The figure is therefore not
    // judged.
    {
      name: `commits per 1,000 ${unit}s`,
      of: ({ commits, requests }) => commits && (1_000 * commits) / requests,
      tolerance: cost,
    },
  ];
}

/** Figures of a run at half of the peak rate. */
const halfFigures: readonly Figure<Run>[] = [
  { name: 'p50 at half the peak, ms', of: (run) => run.p50, better: 'less', tolerance: p50 },
  { name: 'p99 at half the peak, ms', of: (run) => run.p99, better: 'less', tolerance: p99 },
];
