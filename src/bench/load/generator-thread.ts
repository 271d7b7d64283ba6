import { existsSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../runtime/clock.ts';
import { HttpDriver } from './http-driver.ts';
import type { LoadResult, Share, ThreadResult } from './load-run.ts';
import type { LoadPlan } from './plan.ts';

/** A thread of the load generator. After its connections are open, it waits for a message before it sends. */

export interface ThreadPlan {
  readonly plan: LoadPlan;
  readonly share: Share;
  readonly connections: number;
}

/** A client for one protocol. */
interface Driver {
  /** @throws {Error} if no server listens at the address */
  connect(connections: number): Promise<void>;
  run(): Promise<LoadResult>;
}

/** Messages from the thread. After the first message, the thread waits for a message that starts the run. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'done'; readonly result: ThreadResult };

const port = parentPort!;
const post = (message: ThreadMessage) => port.postMessage(message);

const schedstat = '/proc/thread-self/schedstat';

/** Returns the CPU time of this thread, or of the process if threads have no own times, in seconds. */
function cpuSeconds(): number {
  if (existsSync(schedstat)) return Number(readFileSync(schedstat, 'latin1').split(' ')[0]) / 1e9;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Loads the client for the protocol of the plan, and no other client. */
async function createDriver(plan: LoadPlan, share: Share): Promise<Driver> {
  if (plan.protocol !== 'grpc') return new HttpDriver(plan, share, systemClock);
  const { GrpcDriver } = await import('./grpc-driver.ts');
  return new GrpcDriver(plan, share, systemClock);
}

// Keeps the thread alive until `runLoad` terminates it. Other timers do not keep it alive.
setInterval(() => {}, 60_000);

const { plan, share, connections } = workerData as ThreadPlan;
const driver = await createDriver(plan, share);

// This listener keeps the thread alive even if the target has exited and closed all connections.
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
