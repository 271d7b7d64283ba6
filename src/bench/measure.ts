import type { Context } from '../cli/context.ts';
import { fetchWhole } from '../cli/send.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LoadReport } from './load/plan.ts';
import { runLoad } from './load/run-load.ts';
import { readServer, type ServerReading, usageBetween } from './load/server-usage.ts';
import type { Measurement, ThreadRole } from './measurement.ts';
import type { Target } from './own-server.ts';
import type { Combination, Stage } from './sweep.ts';
import type { Workload } from './workload.ts';

export interface Measuring {
  readonly context: Context;
  readonly clock: Clock;
  /** The compiled `bench/load/generator-thread`. */
  readonly generatorFile: string;
  readonly generatorThreads: number;
  readonly over: AbortSignal;
}

/**
 * Runs one stage and compares the counts.
 * @param ceiling packets per second of the closed loop before it
 * @throws {Error} if the server cannot be reached, or the run is interrupted
 */
export async function measure(
  target: Target,
  { applications, plan }: Workload,
  combination: Combination,
  stage: Stage,
  ceiling: number,
  { context, clock, generatorFile, generatorThreads: threads, over }: Measuring,
): Promise<Measurement> {
  const { seconds, warmupSeconds, connections, transport, share } = stage;
  const rate = share === undefined ? undefined : Math.max(1, Math.floor(ceiling * share));
  const address = transport === 'http' ? target.http : target.grpc!;
  const sending = { connections, threads, seconds, warmupSeconds, ...(rate && { rate }) };
  const before = await read(target, context);
  const report = await runLoad(plan(address, sending), generatorFile, over);
  const after = await read(target, context);
  applications.add(report);
  const difference = await applications.difference(clock.now());
  return {
    combination,
    transport,
    connections,
    ...(share !== undefined && { share }),
    ...(rate !== undefined && { offered: rate }),
    ...figuresOf(report),
    ...between(before, after, report),
    ...(difference !== undefined && { difference }),
  };
}

function figuresOf({ rps, p50, p99, p999, cpuSeconds, cpuShare, requests, own, others, errors }: LoadReport) {
  return {
    packetsPerSecond: rps,
    p50,
    p99,
    p999,
    generatorCores: requests === 0 ? 0 : (cpuSeconds / requests) * rps,
    generatorBusiest: cpuShare,
    generatorP50: own.p50,
    generatorP99: own.p99,
    othersP99: others.p99,
    errors: Object.values(errors).reduce((sum, count) => sum + count, 0),
    errorKinds: errors,
  };
}

async function read({ pid, data, http }: Target, context: Context): Promise<ServerReading | undefined> {
  if (pid === undefined || data === undefined) return undefined;
  const metrics = await fetchWhole(context, `http://${http}/metrics`, {});
  return readServer({ pid, data }, await metrics.text());
}

/** The roles of threads by the names that the system shows. */
const roles: Readonly<Record<string, ThreadRole>> = {
  main: 'main',
  front: 'front end',
  journal: 'journal',
  fold: 'fold',
};

/** The warm-up is in both readings, so figures are per packet of the whole stage. */
function between(
  before: ServerReading | undefined,
  after: ServerReading | undefined,
  { requests, rps }: LoadReport,
) {
  if (before === undefined || after === undefined || requests === 0) return { threads: [] };
  const { threads, disk, commits } = usageBetween(before, after);
  const perSecond = (amount: number) => (amount / requests) * rps;
  return {
    threads: threads.map(({ name, seconds }) => ({
      role: roles[name] ?? 'other',
      cores: perSecond(seconds),
    })),
    // Each worker has commits of its own.
    commitShare: Math.min(1, perSecond(commits.seconds)),
    ...(disk && { flushesPerSecond: perSecond(disk.flushes), bytesPerPacket: disk.bytes / requests }),
  };
}
