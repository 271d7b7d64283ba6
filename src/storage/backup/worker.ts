import { systemClock } from '../../runtime/clock.ts';
import { ThreadCalls, threadStart } from '../../runtime/thread-calls.ts';
import { type Destination, folderDestination } from './destination.ts';
import { latestBackup, makeScheduled, type ScheduledSettings } from './make-scheduled.ts';
import { Pace } from './pace.ts';

const { channel, ...keeping } = threadStart<ScheduledSettings>();
const stopping = new AbortController();
const pace = new Pace({ clock: systemClock, over: stopping.signal, gentle: true });
let running: Promise<unknown> | undefined;

const actions = {
  latest: () => run(latestBackup),
  /** @param at the time in the name of the backup, Unix ms */
  backup: (at: number) => run((destination) => makeScheduled(destination, { ...keeping, at }, pace)),
  async close(): Promise<void> {
    stopping.abort();
    await running;
  },
};
export type BackupActions = typeof actions;

new ThreadCalls(channel, actions);

function run<T>(work: (destination: Destination) => Promise<T>): Promise<T> {
  const result = open(keeping).then(work);
  running = result.catch(() => {});
  return result;
}

async function open({ to, s3, data }: ScheduledSettings): Promise<Destination> {
  if (!to.startsWith('s3://')) return folderDestination(to);
  const { bucketDestination } = await import('./bucket.ts');
  return bucketDestination(to, s3, data, stopping.signal);
}
