import { Worker } from 'node:worker_threads';
import type { ThreadMessage, ThreadPlan } from './generator-thread.ts';
import { Histogram } from './histogram.ts';
import type { ThreadResult } from './load-run.ts';
import type { LoadPlan, LoadReport } from './plan.ts';

/**
 * Runs a plan in separate threads.
 * @param file the compiled `bench/load/generator-thread`
 * @param signal ends the run early
 * @throws {Error} if the target is unreachable or a thread fails, or the reason of `signal`
 */
export async function runLoad(plan: LoadPlan, file: string, signal?: AbortSignal): Promise<LoadReport> {
  signal?.throwIfAborted();
  const threads = startThreads(plan, file);
  const stop = () => Promise.all(threads.map((thread) => thread.terminate()));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await Promise.all(threads.map((thread) => receive(thread, 'ready')));
    const results = threads.map((thread) => receive(thread, 'done'));
    for (const thread of threads) thread.postMessage('start');
    const done = await Promise.all(results);
    return combine(
      plan.rate === undefined ? 'closed' : 'open',
      done.map(({ result }) => result),
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    await stop();
  }
}

/** Starts threads that share the load of a plan. */
function startThreads(plan: LoadPlan, file: string): readonly Worker[] {
  const { connections, threads = 1 } = plan;
  const of = Math.min(threads, connections);
  return Array.from({ length: of }, (_, index) => {
    const own = Math.ceil((connections - index) / of);
    const workerData: ThreadPlan = { plan, share: { index, of }, connections: own };
    return new Worker(file, { workerData, name: `load-${index}` });
  });
}

/** Waits for a message from a thread. @throws {Error} if the thread fails or exits before it sends the message */
function receive<Kind extends ThreadMessage['kind']>(
  thread: Worker,
  kind: Kind,
): Promise<Extract<ThreadMessage, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    thread.on('message', (message: ThreadMessage) => {
      if (message.kind === kind) resolve(message as Extract<ThreadMessage, { kind: Kind }>);
      else if (message.kind === 'failed') reject(new Error(`The load generator failed: ${message.reason}`));
    });
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('The load generator stopped unexpectedly')));
  });
}

export function combine(loop: LoadReport['loop'], results: readonly ThreadResult[]): LoadReport {
  const latencies = merge(results.map((each) => each.latencies));
  const accepted = results[0]!.accepted.map((_, index) => sum(results, (each) => each.accepted[index]!));
  const kinds = new Set(results.flatMap(({ errors }) => Object.keys(errors)));
  return {
    loop,
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    rps: sum(results, ({ rps }) => rps),
    ...latencies.quantiles(),
    latencies: latencies.distribution(),
    sent: sum(results, ({ sent }) => sent),
    requests: accepted.reduce((total, count) => total + count, 0),
    accepted,
    errors: Object.fromEntries([...kinds].map((kind) => [kind, sum(results, ({ errors }) => errors[kind] ?? 0)])),
    lateness: merge(results.map((each) => each.lateness)).quantiles(),
    own: merge(results.map((each) => each.own)).quantiles(),
    others: merge(results.map((each) => each.others)).quantiles(),
    cpuShare: Math.max(...results.map(({ cpuSeconds, elapsed }) => cpuSeconds / elapsed)),
    cpuSeconds: sum(results, ({ cpuSeconds }) => cpuSeconds),
  };
}

function merge(all: readonly Uint32Array[]): Histogram {
  const whole = new Histogram();
  for (const counts of all) whole.add(new Histogram(counts));
  return whole;
}

function sum(results: readonly ThreadResult[], of: (result: ThreadResult) => number): number {
  return results.reduce((total, result) => total + of(result), 0);
}
