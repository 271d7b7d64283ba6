import { expect, test } from 'vitest';
import { FrameSlot } from '../../../src/storage/commit/journal-memory.ts';
import { FrameTooLarge } from '../../../src/storage/journal/errors.ts';

const parts = (...texts: string[]) => texts.map((text) => Buffer.from(text));
const bell = new Int32Array(new SharedArrayBuffer(4));

test('frames and their answers pass between threads unchanged', () => {
  const ours = new FrameSlot(100);
  const theirs = new FrameSlot(ours.shared);
  ours.put(parts('a long first frame'));
  expect(theirs.take()).toBeUndefined();
  ours.put(parts('head', '', 'tail'));
  expect(ours.ring(bell, 0)).toBe(true);
  expect(theirs.take()).toEqual(expect.any(Number));
  expect(theirs.take()).toBeUndefined();
  expect(Buffer.from(theirs.frame).toString()).toBe('headtail');
  theirs.answer();
  expect(ours).toMatchObject({ answered: 1, failure: undefined });
  ours.ring(bell, 0);
  theirs.answer({ message: 'no space left', code: 'ENOSPC' });
  expect(ours).toMatchObject({ answered: 2, failure: { message: 'no space left', code: 'ENOSPC' } });
});

test('rejects a frame larger than its memory, and keeps the previous one', () => {
  const slot = new FrameSlot(8);
  slot.put(parts('12345', '678'));
  expect(() => slot.put(parts('12345', '6789'))).toThrow(FrameTooLarge);
  expect(Buffer.from(slot.frame).toString()).toBe('12345678');
});

test('a frame in flight and later ones are refused once the journal thread has ended', async () => {
  const slot = new FrameSlot(8);
  slot.ring(bell, 0);
  const answered = slot.next(0);
  slot.end();
  await answered;
  expect(slot.failure).toEqual({ message: 'the thread has ended' });
  expect(slot.ring(bell, 0)).toBe(false);
});

test('a late notification of the previous answer does not end the wait for the next one', async () => {
  const ours = new FrameSlot(8);
  const theirs = new FrameSlot(ours.shared);
  theirs.answer();
  const answered: number[] = [];
  const waiting = ours.next(1).then(() => answered.push(ours.answered));
  const words = new Int32Array(ours.shared);
  const behind = Atomics.waitAsync(words, 1, 1).value;
  Atomics.notify(words, 1);
  await behind;
  await new Promise(setImmediate);
  theirs.answer();
  await waiting;
  expect(answered).toEqual([2]);
});
