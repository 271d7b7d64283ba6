import type { Clock } from '../../src/runtime/clock.ts';
import type { IntakeLimits } from '../../src/storage/commit/intake.ts';
import type { LaneTime } from '../../src/storage/commit/lane.ts';

/** Limits of an intake that are so high that no test reaches them. Each test sets the size of a batch. */
export const roomyLimits: Omit<IntakeLimits, 'batchPackets'> = {
  commitDelay: 0,
  commitSiblings: 1,
  queueHighPackets: 1e6,
  queueLowPackets: 1,
  queueHighBytes: 1e9,
  queueLowBytes: 1,
  queueHighAge: 1e9,
  queueLowAge: 1,
};

/** Returns the times of a lane that never delays a commit. */
export function undelayed(clock: Pick<Clock, 'monotonic'>): LaneTime {
  return { monotonic: () => clock.monotonic(), after: () => {} };
}
