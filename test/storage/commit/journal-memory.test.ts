import { expect, test } from 'vitest';
import { FrameSlot, JournalState } from '../../../src/storage/commit/journal-memory.ts';
import { FrameTooLarge } from '../../../src/storage/journal/errors.ts';

const encodeTexts = (...texts: string[]) => texts.map((text) => Buffer.from(text));
const bell = new Int32Array(new SharedArrayBuffer(4));

test('a frame slot passes frames and their results between threads unchanged', () => {
  const ours = new FrameSlot(100);
  const theirs = new FrameSlot(ours.shared);
  ours.put(encodeTexts('a long first frame'));
  expect(theirs.take()).toBeUndefined();
  ours.put(encodeTexts('head', '', 'tail'));
  expect(ours.ring(bell, 0)).toBe(true);
  expect(theirs.take()).toEqual(expect.any(Number));
  expect(theirs.take()).toBeUndefined();
  expect(Buffer.from(theirs.frame).toString()).toBe('headtail');
  theirs.settle();
  expect(ours).toMatchObject({ settled: 1, failure: undefined });
  ours.ring(bell, 0);
  theirs.settle({ message: 'no space left', code: 'ENOSPC' });
  expect(ours).toMatchObject({ settled: 2, failure: { message: 'no space left', code: 'ENOSPC' } });
});

test('a frame slot rejects a frame larger than its memory, and keeps the previous frame', () => {
  const slot = new FrameSlot(8);
  slot.put(encodeTexts('12345', '678'));
  expect(() => slot.put(encodeTexts('12345', '6789'))).toThrow(FrameTooLarge);
  expect(Buffer.from(slot.frame).toString()).toBe('12345678');
});

test('frames in flight and later frames are refused once the journal thread has ended', async () => {
  const slot = new FrameSlot(8);
  slot.ring(bell, 0);
  const settled = slot.next(0);
  slot.end();
  await settled;
  expect(slot.failure).toEqual({ message: 'the thread has ended' });
  expect(slot.ring(bell, 0)).toBe(false);
});

test('a late notification of the previous result does not end the wait for the next result', async () => {
  const ours = new FrameSlot(8);
  const theirs = new FrameSlot(ours.shared);
  theirs.settle();
  const settled: number[] = [];
  const waiting = ours.next(1).then(() => settled.push(ours.settled));
  const words = new Int32Array(ours.shared);
  const behind = Atomics.waitAsync(words, 1, 1).value;
  Atomics.notify(words, 1);
  await behind;
  await new Promise(setImmediate);
  theirs.settle();
  await waiting;
  expect(settled).toEqual([2]);
});

const tail = (sequence: number, bytes: number) => ({ sequence, bytes, segment: 3, used: 0.25 });

test('other threads can read the end of the journal and the number of unfolded bytes', () => {
  const ours = new JournalState();
  const theirs = new JournalState(ours.shared);
  for (const sequence of [2 ** 40, 2 ** 40 + 1, 2 ** 40 + 2]) {
    theirs.publish(tail(sequence, sequence * 100));
    expect(ours.tail).toEqual(tail(sequence, sequence * 100));
  }
  ours.setFolded(2 ** 40 * 100);
  expect(theirs.unfoldedBytes).toBe(200);
});

test('the journal watcher is woken by the first frame after it is armed, and then once per 256 KiB', () => {
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
