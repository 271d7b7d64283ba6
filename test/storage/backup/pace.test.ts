import { getPriority, setPriority } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { InterruptedError, Pace } from '../../../src/storage/backup/pace.ts';

const priority = getPriority();

afterEach(() => {
  try {
    setPriority(0, priority);
  } catch {
    // Only root may raise a priority again.
  }
});

/** Creates the pace of a task next to a service. The test advances the clock and the number of commits. */
function beside({ gentle }: { readonly gentle: boolean }) {
  const state = { now: 1000, commits: 7 };
  const pauses: number[] = [];
  const over = new AbortController();
  const pause = async (ms: number) => void pauses.push(ms);
  const clock = { monotonic: () => state.now };
  const pace = new Pace({ clock, over: over.signal, pause, ...(gentle && { gentle }) });
  pace.giveWay(() => state.commits);
  return { state, pauses, pace, over };
}

test('a paced task rests for as long as it has worked if the service wrote data during that time', async () => {
  const { state, pace, pauses } = beside({ gentle: true });
  state.now += 1;
  state.commits += 1;
  await pace.rest();
  expect(pauses).toEqual([]); // The time slice of the task is not over yet.
  state.now += 3;
  await pace.rest();
  expect(pauses).toEqual([4]);
  state.now += 50;
  await pace.rest();
  expect(pauses).toEqual([4]); // The service has written nothing, so the task continues.
  state.now += 2;
  state.commits += 100;
  await pace.rest();
  expect(pauses).toEqual([4, 2]);
});

test('a paced task never rests if no service runs', async () => {
  const { state, pace, pauses } = beside({ gentle: false });
  for (let round = 0; round < 5; round += 1) {
    state.now += 20;
    state.commits += 1;
    await pace.rest();
  }
  expect(pauses).toEqual([]);
});

test('an interruption ends the wait of a paced task for an event that does not happen', async () => {
  const { pace, over } = beside({ gentle: false });
  expect(await pace.wait(Promise.resolve(5))).toBe(5);
  await expect(pace.wait(Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  const waiting = pace.wait(new Promise(() => {}));
  over.abort();
  await expect(waiting).rejects.toThrow(InterruptedError);
  await expect(pace.wait(Promise.resolve(5))).rejects.toThrow(InterruptedError);
});
