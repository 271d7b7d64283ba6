import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../runtime/clock.ts';
import { logThreadConsole } from '../../runtime/worker-log.ts';
import type { Keeping, Task, WorkerAnswer } from './backup-thread.ts';
import { type Destination, folderDestination } from './destination.ts';
import { latestBackup, makeScheduled } from './make-scheduled.ts';
import { Pace } from './pace.ts';

logThreadConsole();
const { keeping, task } = workerData as { readonly keeping: Keeping; readonly task: Task };
const stopping = new AbortController();
parentPort!.once('message', () => stopping.abort());

parentPort!.postMessage(await answer());
parentPort!.close();

async function answer(): Promise<WorkerAnswer> {
  try {
    const destination = await open(keeping);
    const pace = new Pace({ clock: systemClock, over: stopping.signal, gentle: true });
    const made =
      task.name === 'latest'
        ? await latestBackup(destination)
        : await makeScheduled(destination, { ...keeping, at: task.at }, pace);
    return { ok: true, made };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

async function open({ to, s3, data }: Keeping): Promise<Destination> {
  if (!to.startsWith('s3://')) return folderDestination(to);
  const { bucketDestination } = await import('./bucket-destination.ts');
  return bucketDestination(to, s3, data, stopping.signal);
}
