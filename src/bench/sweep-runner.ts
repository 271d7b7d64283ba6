import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../cli/context.ts';
import { Failure } from '../cli/failure.ts';
import { fetchWhole } from '../cli/send.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LoadReport } from './load/plan.ts';
import { runLoad } from './load/run-load.ts';
import { busyCores, readProcessorTime, readServer, type ServerReading, usageBetween } from './load/server-usage.ts';
import { formatCombination, formatCount, isSame, type Measurement, ownCores, type ThreadRole } from './measurement.ts';
import { chooseCandidate } from './recommendation.ts';
import type { Combination, Run, Stage, SweepPlan, Transport } from './sweep.ts';
import { describeLoad, whole } from './table.ts';
import { startOwnServer, type Target } from './target.ts';
import { createWorkload, type Workload } from './workload.ts';

interface SweepDeps {
  readonly context: Context;
  /** A server that is already running; `undefined` if each run starts its own server. */
  readonly running: Target | undefined;
  /** The folder for the stores. */
  readonly folder: string;
  /** The compiled `bench/load/generator-thread`. */
  readonly generatorFile: string;
  readonly clock: Clock;
  readonly over: AbortSignal;
}

/** The measured stages, and the reason why stages are missing. */
export interface Swept {
  readonly measurements: readonly Measurement[];
  /** The combination that was measured repeatedly, alternating with the base. */
  readonly candidate: Combination | undefined;
  readonly failure?: Failure;
}

/** Factor of the planned time after which a bench stops early, for example on a busy machine. */
export const lateFactor = 2;
/** Number of cores for each thread of the generator. */
const coresPerGenerator = 4;
const mostGenerators = 16;

/** True if other processes distort a stage. The kernel's own work, such as for the disk, is below the limit. */
function isDisturbing(foreignCores: number): boolean {
  return foreignCores > Math.max(0.3, availableParallelism() / 10);
}

/** Measures the stages of a plan. After a failure or an interruption, returns the stages measured until then. */
export async function sweep(plan: SweepPlan, deps: SweepDeps): Promise<Swept> {
  const measurements: Measurement[] = [];
  let candidate: Combination | undefined;
  const until = deps.clock.monotonic() + plan.expectedSeconds * lateFactor * 1000;
  try {
    for (const [number, run] of plan.runs.entries()) {
      if (run.combination === undefined) candidate ??= chooseCandidate(measurements, plan.base);
      const combination = run.combination ?? candidate!;
      // Skips the recommended settings if they are the base, which other runs measure repeatedly.
      if (run.combination === undefined && isSame(combination, plan.base)) continue;
      await runOnce({ run, combination, number, plan, until }, measurements, deps);
    }
    return { measurements, candidate };
  } catch (error) {
    return { measurements, candidate, failure: createFailure(error, deps.over) };
  }
}

function createFailure(error: unknown, over: AbortSignal): Failure {
  if (over.aborted) return new Failure('interrupted', 'Interrupted: the report has the completed stages');
  return error instanceof Failure ? error : new Failure('failed', (error as Error).message);
}

interface PlannedRun {
  readonly run: Run;
  readonly combination: Combination;
  readonly number: number;
  readonly plan: SweepPlan;
  /** Time on the monotonic clock after which no further stage begins, ms. */
  readonly until: number;
}

async function runOnce(running: PlannedRun, measurements: Measurement[], deps: SweepDeps): Promise<void> {
  const { run, combination, number } = running;
  const { context, folder, over } = deps;
  over.throwIfAborted();
  const target = deps.running ?? (await startOwnServer(join(folder, String(number)), combination, context));
  const workloads = new Map<Transport, Workload>();
  try {
    for (const stage of run.stages)
      measurements.push(await runStage(stage, { ...running, target, workloads }, measurements, deps));
  } finally {
    try {
      if (deps.running) for (const { applications } of workloads.values()) await applications.remove();
    } finally {
      await target.stop();
    }
  }
}

interface StageContext extends PlannedRun {
  readonly target: Target;
  /** Workloads that earlier stages created. */
  readonly workloads: Map<Transport, Workload>;
}

async function runStage(
  stage: Stage,
  { combination, plan, until, target, workloads }: StageContext,
  measurements: readonly Measurement[],
  deps: SweepDeps,
): Promise<Measurement> {
  const { context, clock, running, over } = deps;
  const { transport } = stage;
  if (clock.monotonic() > until)
    throw new Failure('failed', 'Stopped early: the machine is too busy for the planned time');
  // An application is assigned to one worker of the server, so several workers need several applications.
  const count = running ? 1 : Math.max(2, ...plan.runs.map((each) => each.combination?.workers ?? 1));
  const workload = workloads.get(transport) ?? (await createWorkload(target.api, transport, count, clock.now()));
  workloads.set(transport, workload);
  const ceiling = measurements.findLast(
    (each) => each.share === undefined && each.transport === transport && isSame(each.combination, combination),
  );
  const rate = ceiling?.packetsPerSecond ?? 0;
  const before = readProcessorTime();
  const measured = await unlessOver(measure(target, workload, combination, stage, rate, deps), over);
  const foreignCores = Math.max(0, busyCores(before, readProcessorTime()) - ownCores(measured));
  const total = plan.runs.flatMap((run) => run.stages).length;
  const name = `${formatCombination(combination, plan.base)}, ${describeLoad(measured)}, ${formatCount(measured.connections, 'connection')}`;
  context.err(`${measurements.length + 1}/${total} ${name}: ${whole(measured.packetsPerSecond)} packets/s\n`);
  return running ? measured : { ...measured, foreignCores, isDisturbed: isDisturbing(foreignCores) };
}

/** Returns the measurement. @throws the reason of `over` immediately, even if the server does not respond */
async function unlessOver<T>(measuring: Promise<T>, over: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(over.reason);
  over.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([measuring, promise]);
  } finally {
    over.removeEventListener('abort', end);
  }
}

/**
 * Runs one stage and compares the counts.
 * @param ceiling packets per second that the preceding closed loop measured
 * @throws {Error} if the server cannot be reached, or the run is interrupted
 */
async function measure(
  target: Target,
  { applications, plan }: Workload,
  combination: Combination,
  stage: Stage,
  ceiling: number,
  { context, clock, generatorFile, over }: SweepDeps,
): Promise<Measurement> {
  const { seconds, warmupSeconds, connections, transport, share } = stage;
  const rate = share === undefined ? undefined : Math.max(1, Math.floor(ceiling * share));
  const address = transport === 'http' ? target.http : target.grpc!;
  const wanted = Math.floor(availableParallelism() / coresPerGenerator);
  const threads = Math.min(mostGenerators, Math.max(1, wanted));
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
    ...selectFigures(report),
    ...between(before, after, report),
    ...(difference !== undefined && { difference }),
  };
}

function selectFigures({ rps, p50, p99, p999, cpuSeconds, cpuShare, requests, own, others, errors }: LoadReport) {
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

/** The roles of threads by thread name. */
const roles: Readonly<Record<string, ThreadRole>> = {
  main: 'main',
  front: 'front end',
  journal: 'journal',
  fold: 'fold',
};

/** Returns the resource use of a stage, computed from the use per packet, because the readings include the warm-up. */
function between(before: ServerReading | undefined, after: ServerReading | undefined, { requests, rps }: LoadReport) {
  if (before === undefined || after === undefined || requests === 0) return { threads: [] };
  const { threads, disk, commitSeconds } = usageBetween(before, after);
  const perSecond = (amount: number) => (amount / requests) * rps;
  return {
    threads: threads.map(({ name, seconds }) => ({ role: roles[name] ?? 'other', cores: perSecond(seconds) })),
    // Workers commit at the same time, so the sum of their commit times can exceed the duration.
    commitShare: Math.min(1, perSecond(commitSeconds)),
    ...(disk && { flushesPerSecond: perSecond(disk.flushes), bytesPerPacket: disk.bytes / requests }),
  };
}
