import { systemClock } from '../../runtime/clock.ts';
import { ThreadCalls, threadStart } from '../../runtime/thread-calls.ts';
import type { Destination } from './destination.ts';
import { listBackups, makeScheduled, type ScheduledSettings } from './make-scheduled.ts';
import { openDestination } from './open-destination.ts';
import { Pace } from './pace.ts';

const { channel, ...keeping } = threadStart<ScheduledSettings>();
const stopping = new AbortController();
const pace = new Pace({ clock: systemClock, over: stopping.signal, gentle: true });
let running: Promise<unknown> | undefined;

const actions = {
  /** The time of the latest backup, Unix ms; `undefined` without a backup. */
  latest: () => run(async (destination) => (await listBackups(destination)).at(-1)?.at),
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
  const result = openDestination(keeping, stopping.signal).then(work);
  running = result.catch(() => {});
  return result;
}
