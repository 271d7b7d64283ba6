/** The settings of `serve` that a sweep varies, in the order of the columns. */
export const dimensions = ['threads', 'workers', 'batch-packets', 'commit-delay'] as const;

export type Dimension = (typeof dimensions)[number];

/** A value for each varied setting. For an absent setting, the server uses its default. */
export type Combination = Readonly<Partial<Record<Dimension, number>>>;

export type Transport = 'http' | 'grpc';

/** Number of concurrent calls on each gRPC connection. */
export const grpcStreams = 16;

/** A load on a running server. */
export interface Stage {
  readonly transport: Transport;
  readonly connections: number;
  /** Rate of an open loop as a share of the ceiling; `undefined` for a closed loop, which sends at full speed. */
  readonly share?: number;
  /** Duration of the measured part, and of the warm-up before it. */
  readonly seconds: number;
  readonly warmupSeconds: number;
}

/** One server process and the stages that it runs. */
export interface Run {
  /** The settings; `undefined` for the recommended combination, which is known after the earlier runs. */
  readonly combination: Combination | undefined;
  readonly stages: readonly Stage[];
}

export interface SweepPlan {
  readonly base: Combination;
  readonly runs: readonly Run[];
  readonly expectedSeconds: number;
}

export interface SweepOptions {
  /** Total time of the sweep, seconds. */
  readonly time: number;
  readonly transports: readonly Transport[];
  /** Values of each dimension. The first value is the base. */
  readonly values: Readonly<Partial<Record<Dimension, readonly number[]>>>;
  /** Numbers of connections, ascending. */
  readonly connections: readonly number[];
  /** Number of times that the base and the recommended settings are measured again, alternating. */
  readonly repeats: number;
  /** Minimum duration of a stage, and duration of its warm-up, in seconds. */
  readonly least: number;
}

/** Time for starting and stopping the server, seconds. */
const startSeconds = 2.5;
const checkSeconds = 1;
const longestStage = 30;

/** Shares of the ceiling (the rate at full speed) at which latency is measured. */
const openShares = [0.5, 0.8] as const;

/** Returns the shortest total time of a sweep, seconds. */
export function leastTime(options: SweepOptions): number {
  return Math.ceil(sumDurations(listRuns(options, options.least)));
}

/**
 * Plans a sweep. It measures the ceiling and the latencies of the base, then of each other value of each dimension, one
 * at a time. Finally, it measures the base and the recommended settings again. The stages share the time equally.
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

/** Returns the number of gRPC connections that have as many concurrent calls as the HTTP connections. */
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
