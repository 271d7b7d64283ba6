import { beginTrial, type Comparison, startFloors } from '../beside-floor.ts';
import { median } from '../numbers.ts';
import { drive, inTurn, type Open, type Run, type Target } from '../rounds.ts';
import { type CompareOptions, type Group, runSeconds, startSeconds, tolerances } from './group.ts';
import { type Figure, type Row, rowsOf } from './row.ts';
import { prepareSides, type Side, type Sides, sampleSides } from './sides.ts';

/** A number of connections to measure with. */
interface Section {
  readonly connections: number;
  /** Without the floor, and without half of the peak: few connections do not reach a limit. */
  readonly alone?: boolean;
}

/** A run, and the run of the floor in the same round. */
interface Sample extends Run {
  readonly floor?: Run | undefined;
}

type Subject = Awaited<ReturnType<typeof beginTrial>>;

/** Compares two executables and the floor of a benchmark under its load. */
export function loadGroup<Own extends string>(
  name: string,
  comparison: Comparison<Own>,
  sections: readonly Section[] = [{ connections: comparison.defaults.connections }],
): Group {
  return {
    seconds: (options) =>
      startSeconds +
      3 * runSeconds({ seconds: options.warmup }) +
      sections.reduce((sum, { alone }) => sum + options.rounds * (alone ? 2 : 5) * runSeconds(options), 0),
    async measure(binaries, options) {
      const { seconds, warmup } = options;
      const sides = await prepareSides(binaries, async (side, binary) => {
        const subject = await beginTrial(side, comparison, binary, { ...comparison.defaults, seconds });
        await driveAccepted(subject.target, { seconds: warmup });
        return subject;
      });
      const subject = sides.map((side) => side.subject).find((each) => each !== undefined);
      const floor = subject && (await startFloors(comparison, subject.trial))[0];
      await floor?.drive({ seconds: warmup });
      const rows: (() => Row[])[] = [];
      for (const section of sections)
        rows.push(await measureSection(name, comparison.unit, section, sides, floor, options));
      for (const side of sides) await side.attempt(({ trial }) => trial.verify());
      return rows.flatMap((each) => each());
    },
  };
}

/** Measures full speed, then half of the slower executable's. @returns the rows, to be read after the counts are verified */
async function measureSection(
  group: string,
  unit: string,
  { connections, alone = false }: Section,
  sides: Sides<Subject>,
  floor: Target | undefined,
  { rounds }: CompareOptions,
): Promise<() => Row[]> {
  const full = await driveSides(rounds, sides, alone ? undefined : floor, { connections });
  const peaks = sides.flatMap((side, at) => {
    const runs = side.available(full[at]!);
    return runs.length > 0 ? [median(runs.map(({ rps }) => rps))] : [];
  });
  const rate = Math.max(1, Math.min(...peaks) / 2);
  const half = alone
    ? undefined
    : await sampleSides(rounds, sides, ({ target }) => driveAccepted(target, { connections, rate }));
  const place = `${group}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
  const kept = <Each>(each: readonly (readonly (Each | undefined)[])[]) =>
    sides.map((side, at) => side.available(each[at]!)) as [Each[], Each[]];
  return () => [
    ...rowsOf(place, fullFigures(unit, !alone), kept(full)),
    ...(half === undefined ? [] : rowsOf(place, halfFigures, kept(half))),
  ];
}

/** Drives the floor and both executables in alternating rounds. */
async function driveSides(
  rounds: number,
  sides: Sides<Subject>,
  floor: Target | undefined,
  open: Open,
): Promise<(Sample | undefined)[][]> {
  const onSide = (side: Side<Subject>) => () => side.attempt(({ target }) => driveAccepted(target, open));
  const onFloor = floor === undefined ? [] : [() => drive(floor, open)];
  const results = await inTurn<Run | undefined>(rounds, [...sides.map(onSide), ...onFloor]);
  const [previous, current, floors] = results;
  const beside = (run: Run | undefined, turn: number): Sample | undefined =>
    run && { ...run, floor: floors?.[turn] };
  return [previous!.map(beside), current!.map(beside)];
}

/** Drives a target. @throws {Error} if it does not accept the requests */
export async function driveAccepted(target: Target, open: Open): Promise<Run> {
  const run = await drive(target, open);
  const refused = Object.values(run.errors).reduce((sum, each) => sum + each, 0);
  if (run.requests === 0 || refused > run.requests / 100)
    throw new Error(`requests are not accepted: ${JSON.stringify(run.errors)}`);
  return run;
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
    // Larger groups of requests share a commit when requests wait longer, so neither direction is better.
    {
      name: `commits per 1,000 ${unit}s`,
      of: ({ commits, requests }) => commits && (1_000 * commits) / requests,
      tolerance: cost,
    },
  ];
}

/** Figures of a run at half of the peak. */
const halfFigures: readonly Figure<Run>[] = [
  { name: 'p50 at half the peak, ms', of: (run) => run.p50, better: 'less', tolerance: p50 },
  { name: 'p99 at half the peak, ms', of: (run) => run.p99, better: 'less', tolerance: p99 },
];
