import { Worker } from 'node:worker_threads';
import type { ThreadMessage, ThreadPlan } from './generator-thread.ts';
import { combine } from './outcome.ts';
import type { LoadPlan, LoadReport } from './plan.ts';

/**
 * Runs a plan in threads of their own.
 * @param file the compiled `bench/load/generator-thread`
 * @param signal ends the run early
 * @throws {Error} if the target is unreachable, or a thread fails; the reason of `signal`
 */
export async function runLoad(plan: LoadPlan, file: string, signal?: AbortSignal): Promise<LoadReport> {
  signal?.throwIfAborted();
  const threads = startThreads(plan, file);
  const stop = () => Promise.all(threads.map((thread) => thread.terminate()));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await Promise.all(threads.map((thread) => receive(thread, 'ready')));
    const outcomes = threads.map((thread) => receive(thread, 'done'));
    for (const thread of threads) thread.postMessage('start');
    const done = await Promise.all(outcomes);
    return combine(
      plan.rate === undefined ? 'closed' : 'open',
      done.map(({ outcome }) => outcome),
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    await stop();
  }
}

/** Threads that divide a plan among them. */
function startThreads(plan: LoadPlan, file: string): readonly Worker[] {
  const { connections, threads = 1 } = plan;
  const of = Math.min(threads, connections);
  return Array.from({ length: of }, (_, index) => {
    const own = Math.ceil((connections - index) / of);
    const workerData: ThreadPlan = { plan, share: { index, of }, connections: own };
    return new Worker(file, { workerData, name: `load-${index}` });
  });
}

/** Waits for a message. @throws {Error} if the thread fails or stops before */
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
