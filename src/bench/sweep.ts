/** The settings of `serve` that a sweep varies, in the order of the table. */
export const dimensions = ['threads', 'workers', 'batch-packets', 'commit-delay'] as const;

export type Dimension = (typeof dimensions)[number];

/** Values of these settings, by option. The server uses its default for a missing setting. */
export type Combination = Readonly<Partial<Record<Dimension, number>>>;

export type Transport = 'http' | 'grpc';

/** Concurrent calls on each connection of gRPC. */
export const grpcStreams = 16;

/** One load on a running server. */
export interface Stage {
  readonly transport: Transport;
  readonly connections: number;
  /** `undefined`: as fast as the server responds. Otherwise, an open loop at this share of the ceiling. */
  readonly share?: number;
  /** Measured seconds, and seconds of warm-up before them. */
  readonly seconds: number;
  readonly warmupSeconds: number;
}

/** One run of a server, with its stages. */
export interface Run {
  /** `undefined`: the recommended combination, known after the earlier runs. */
  readonly combination: Combination | undefined;
  readonly stages: readonly Stage[];
}

export interface SweepPlan {
  readonly base: Combination;
  readonly runs: readonly Run[];
  readonly expectedSeconds: number;
}

export interface SweepOptions {
  /** Total time, seconds. */
  readonly time: number;
  readonly transports: readonly Transport[];
  /** Values of each dimension; the first is the base. */
  readonly values: Readonly<Partial<Record<Dimension, readonly number[]>>>;
  /** Ascending. */
  readonly connections: readonly number[];
  /** Number of times that the base and the recommended settings are measured again, alternately. */
  readonly repeats: number;
  /** Minimum seconds of a stage, and the seconds of its warm-up. */
  readonly least: number;
}

/** Seconds for starting and stopping the server, and for checking the counts after a stage. */
const startSeconds = 2.5;
const checkSeconds = 1;
const longestStage = 30;

/** Shares of the ceiling at which latency is measured. */
const openShares = [0.5, 0.8] as const;

/** Returns the shortest total time of a sweep, seconds. */
export function leastTime(options: SweepOptions): number {
  return Math.ceil(sumDurations(listRuns(options, options.least)));
}

/**
 * Plans a sweep: first the ceiling and the latencies of the base, then of each other value of each dimension, one at a
 * time, and finally of the base and the recommended settings again. The stages share the time equally.
 */
export function planSweep(options: SweepOptions): SweepPlan {
  const stages = listRuns(options, 0).flatMap((run) => run.stages).length;
  const rest = options.time - sumDurations(listRuns(options, 0));
  const seconds = Math.min(longestStage, Math.max(options.least, Math.floor((rest / stages) * 2) / 2));
  const runs = listRuns(options, seconds);
  return { base: findBase(options.values), runs, expectedSeconds: Math.ceil(sumDurations(runs)) };
}

function findBase(values: SweepOptions['values']): Combination {
  return Object.fromEntries(Object.entries(values).map(([name, [first]]) => [name, first]));
}

/** Returns the number of gRPC connections with as many concurrent calls as HTTP requests. */
function channelsFor(connections: number): number {
  return Math.ceil(connections / grpcStreams);
}

function listRuns({ transports, values, connections, repeats, least }: SweepOptions, seconds: number): Run[] {
  const base = findBase(values);
  const common = { connections: connections.at(-1)!, seconds, warmupSeconds: least };
  const [first = 'http'] = transports;
  const whole = (transport: Transport): Stage[] => {
    const most = {
      ...common,
      transport,
      ...(transport === 'grpc' && { connections: channelsFor(common.connections) }),
    };
    return [most, ...openShares.map((share) => ({ ...most, share }))];
  };
  const fewer = first === 'http' ? connections.slice(0, -1) : [];
  const ofBase = [
    ...fewer.map((each): Stage => ({ ...common, transport: 'http', connections: each })),
    ...transports.flatMap(whole),
  ];
  const others = dimensions.flatMap((name) =>
    (values[name] ?? []).slice(1).map((value) => ({ ...base, [name]: value })),
  );
  const ceiling: Stage[] = [{ ...common, transport: first }];
  const again = Array.from({ length: others.length === 0 ? 0 : repeats }, (_, index) => [
    { combination: undefined, stages: index === 0 ? whole(first) : ceiling },
    { combination: base, stages: ceiling },
  ]);
  return [
    { combination: base, stages: ofBase },
    ...others.map((combination) => ({ combination, stages: whole(first) })),
    ...again.flat(),
  ];
}

function sumDurations(runs: readonly Run[]): number {
  const stages = runs.flatMap((run) => run.stages);
  return stages.reduce(
    (sum, { seconds, warmupSeconds: before }) => sum + seconds + before + checkSeconds,
    runs.length * startSeconds,
  );
}
