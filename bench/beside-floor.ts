import { join } from 'node:path';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { cleanUp, startProcess } from '../test/support/binary.ts';
import { type Benchmark, type CommonOptions, readOptions, show } from './benchmark.ts';
import { measureRounds, type Open, type Rounds, ratioRows, speedRows, summarizeRounds, type Target } from './rounds.ts';
import { readCommits, type Service, startService } from './service.ts';

/** Options that all comparisons with a floor share, and the additional options `Own` of one comparison. */
export type RoundOptions<Own extends string = never> = Readonly<
  Record<'connections' | 'seconds' | 'rounds' | Own, number>
>;

/** A benchmark that compares the service with floors: simple servers that do part of the same work. */
export interface Comparison<Own extends string> {
  readonly summary: string;
  /** Unit that one request delivers, such as a packet or a token. */
  readonly unit: string;
  readonly defaults: RoundOptions<Own>;
  /** Values that `--small` uses instead. */
  readonly small: RoundOptions<Own>;
  /**
   * Scripts of the floors with their arguments, by the name of the floor. The ratio compares the service with the first
   * floor.
   */
  readonly floors: Readonly<Record<string, readonly [script: string, ...args: string[]]>>;
  /** Additional arguments of `serve`. */
  readonly serve?: readonly string[];
  readonly quantiles?: readonly ('p50' | 'p90' | 'p99' | 'p999')[];
  /** Prepares the service to receive the load. */
  begin(service: Service, options: RoundOptions<Own>): Promise<Trial>;
}

/** A service that is prepared to receive the load. */
export interface Trial {
  /** Sends the load to the service, or to the floor at the address `floor`. */
  drive(floor: string | undefined, open: Open): Promise<LoadReport>;
  /** Checks the counts of the service after all runs. @throws {Error} if they are wrong */
  verify(): Promise<void>;
  /** Returns a summary of figures other than the speed. */
  summarize?(measured: Rounds): BenchmarkSummary;
}

/** Figures of a benchmark other than its speed. */
export interface BenchmarkSummary {
  readonly figures?: Readonly<Record<string, number | null>>;
  readonly remarks: readonly string[];
}

/** Creates a benchmark from a comparison. */
export function besideFloor<Own extends string = never>(comparison: Comparison<Own>): Benchmark {
  const { summary, defaults, small } = comparison;
  const own = Object.entries(defaults).map(([name, value]) => `[--${name} ${value}]`);
  return {
    summary,
    usage: ['[--json]', ...own, '[--small]', '[--binary dist/flagmeter]'].join(' '),
    async run(args) {
      const options = readOptions(args, defaults, small);
      try {
        const { trial, target } = await beginTrial('flagmeter', comparison, options.binary, options);
        const floors = await startFloors(comparison, trial);
        const measured = await measureRounds(options.rounds, floors, target);
        await trial.verify();
        print(comparison, options, measured, trial.summarize?.(measured) ?? { remarks: [] });
      } finally {
        cleanUp();
      }
    },
  };
}

/** Starts an executable and prepares it for the load. */
export async function beginTrial<Own extends string>(
  name: string,
  { serve, begin }: Comparison<Own>,
  binary: string,
  options: RoundOptions<Own>,
): Promise<{ readonly trial: Trial; readonly target: Target }> {
  const service = await startService(binary, serve);
  const trial = await begin(service, options);
  const { pid, http } = service;
  const drive: Target['drive'] = (open) => trial.drive(undefined, open);
  return { trial, target: { name, pid, drive, commits: () => readCommits(http) } };
}

/** Starts the floors. They receive the same load as the service under test. */
export async function startFloors<Own extends string>(
  { floors }: Comparison<Own>,
  trial: Trial,
): Promise<[Target, ...Target[]]> {
  const targets = Object.entries(floors).map(async ([name, [script, ...more]]): Promise<Target> => {
    const { http, pid } = await startProcess(process.execPath, [join(import.meta.dirname, script), ...more]);
    return { name, pid, drive: (open) => trial.drive(http, open) };
  });
  return (await Promise.all(targets)) as [Target, ...Target[]];
}

function print<Own extends string>(
  { unit, quantiles = ['p50', 'p99'] }: Comparison<Own>,
  { json, connections, seconds, rounds }: RoundOptions & CommonOptions,
  measured: Rounds,
  { figures, remarks }: BenchmarkSummary,
): void {
  const summary = summarizeRounds(measured);
  show(json, { ...summary, ...figures, connections }, [
    ...speedRows(unit, quantiles, measured),
    [],
    ...ratioRows(measured),
    [[`${connections} connections, ${rounds} × ${seconds} s each`, ...remarks].join(', ')],
  ]);
}
