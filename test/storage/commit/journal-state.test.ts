import { expect, test } from 'vitest';
import { JournalState } from '../../../src/storage/commit/journal-memory.ts';

const tail = (sequence: number, bytes: number) => ({ sequence, bytes, segment: 3, used: 0.25 });

test('threads read the tail and the bytes that are not folded', () => {
  const ours = new JournalState();
  const theirs = new JournalState(ours.shared);
  for (const sequence of [2 ** 40, 2 ** 40 + 1, 2 ** 40 + 2]) {
    theirs.publish(tail(sequence, sequence * 100));
    expect(ours.tail).toEqual(tail(sequence, sequence * 100));
  }
  ours.setFolded(2 ** 40 * 100);
  expect(theirs.unfoldedBytes).toBe(200);
});

test('the watcher is woken for the first frame after it is armed, and for each 256 KiB', () => {
  const state = new JournalState();
  const wakes = [0, 1, 2].map((sequence) => {
    if (sequence === 1) state.arm();
    state.publish(tail(sequence, 100 * sequence));
    return state.wakes;
  });
  expect(wakes).toEqual([0, 1, 1]);
  for (let kib = 1; kib <= 1024; kib++) state.publish(tail(kib, kib * 1024));
  expect(state.wakes).toBe(1 + 4);
});
