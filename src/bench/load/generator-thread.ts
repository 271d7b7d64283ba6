import { existsSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../runtime/clock.ts';
import { HttpDriver } from './http-driver.ts';
import type { LoadResult, Share, ThreadResult } from './load-run.ts';
import type { LoadPlan } from './plan.ts';

/** A thread of the load generator. It connects, reports that it is ready, and waits for a message before it sends. */

export interface ThreadPlan {
  readonly plan: LoadPlan;
  readonly share: Share;
  readonly connections: number;
}

/** A client of one protocol. */
interface Driver {
  /** @throws {Error} if nothing listens */
  connect(connections: number): Promise<void>;
  run(): Promise<LoadResult>;
}

/** The messages of the thread. After the first message, the thread waits for any message, which starts the run. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'done'; readonly result: ThreadResult };

const port = parentPort!;
const post = (message: ThreadMessage) => port.postMessage(message);

const schedstat = '/proc/thread-self/schedstat';

/** Returns the CPU time of this thread, or of the process on systems without a time per thread; seconds. */
function cpuSeconds(): number {
  if (existsSync(schedstat)) return Number(readFileSync(schedstat, 'latin1').split(' ')[0]) / 1e9;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Loads only the client of the plan's protocol. */
async function createDriver(plan: LoadPlan, share: Share): Promise<Driver> {
  if (plan.protocol !== 'grpc') return new HttpDriver(plan, share, systemClock);
  const { GrpcDriver } = await import('./grpc-driver.ts');
  return new GrpcDriver(plan, share, systemClock);
}

// Neither the timers of a run nor idle connections of grpc-js keep the thread alive. `runLoad` terminates it.
setInterval(() => {}, 60_000);

const { plan, share, connections } = workerData as ThreadPlan;
const driver = await createDriver(plan, share);

// The listener keeps the thread alive when the target has ended, and with it all connections.
port.on('message', async () => {
  const before = { cpu: cpuSeconds(), at: systemClock.monotonic() };
  const result = await driver.run();
  const elapsed = (systemClock.monotonic() - before.at) / 1000;
  post({ kind: 'done', result: { ...result, elapsed, cpuSeconds: cpuSeconds() - before.cpu } });
});

try {
  await driver.connect(connections);
  post({ kind: 'ready' });
} catch (error) {
  post({ kind: 'failed', reason: (error as Error).message });
}
