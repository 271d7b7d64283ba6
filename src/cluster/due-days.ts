import { bucketWidth, minutesPerDay, placeOf, rawBlocks } from '../store/blocks.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import { chunkKeyFrom } from '../store/sketches.ts';
import { readAt, type Snapshot } from '../store/snapshot.ts';
import { type ChangedDay, changedDays } from './changed-days.ts';
import { ReplicaState } from './replica-state.ts';
import { environmentsOf } from './retire.ts';

/** Days since the epoch: both are included. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Until when days are written: days up to `day`, with all that the log says up to `position`. */
export interface WrittenUntil {
  readonly position: number;
  readonly day: number;
}

/**
 * Finds the days of a range that are to be written, with the position that what is written of them has to have. `undefined` is
 * a pause.
 */
export function* dueDays(
  store: ReplicaStore,
  written: WrittenUntil,
  { from, to }: DayRange,
  at: Snapshot,
): Generator<ChangedDay | undefined> {
  const state = new ReplicaState(store, at);
  const applied = state.get('own:applied')?.position ?? 0;
  const isMarked = (state.get('daysMarked') ?? 0) === applied;
  const unmarked = isMarked ? (state.get('daysUnmarked') ?? 0) : applied;
  const isDue = ({ day, position }: ChangedDay) => position > written.position || day > written.day;
  for (const changed of changedDays(store, at)) {
    const { day } = changed;
    yield day >= from && day <= to && isDue(changed) ? changed : undefined;
  }
  if (unmarked === 0) return;
  const first = unmarked > written.position ? from : Math.max(from, written.day + 1);
  for (const environment of environmentsOf(store)) {
    for (let day = first; day <= to; day += 1) {
      day = nextDay(store, environment, day, at);
      yield day <= to ? { environment, day, position: unmarked } : undefined;
    }
  }
}

const lastMinute = 2 ** 32 - 1;

/** The first day from one on of which an environment has counts or users. */
function nextDay(store: ReplicaStore, environment: number, day: number, at: Snapshot): number {
  let next = Number.POSITIVE_INFINITY;
  const places = { from: placeOf(day * minutesPerDay), to: placeOf(lastMinute) };
  for (const width of Object.values(bucketWidth)) {
    for (const block of rawBlocks(store.counts, environment, width, places, at)) {
      next = Math.min(next, Math.floor(block.minute / minutesPerDay));
      break;
    }
  }
  const range = { start: chunkKeyFrom(environment, day), end: chunkKeyFrom(environment + 1, 0), limit: 1 };
  const [key] = Array.from(store.sketches.getKeys({ ...range, ...readAt(at) }), (each) =>
    each.readUInt32BE(4),
  );
  return Math.min(next, key ?? next);
}
