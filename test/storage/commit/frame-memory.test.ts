import { expect, test } from 'vitest';
import { FrameMemory } from '../../../src/storage/commit/frame-memory.ts';
import { FrameTooLarge } from '../../../src/storage/journal/errors.ts';

const parts = (...texts: string[]) => texts.map((text) => Buffer.from(text));

test('frames and the results of their appends pass between threads unchanged', () => {
  const ours = new FrameMemory(100);
  const theirs = new FrameMemory(ours.shared);
  ours.put(parts('a long first frame'));
  ours.put(parts('head', '', 'tail'));
  expect(Buffer.from(theirs.frame).toString()).toBe('headtail');
  theirs.setAppended({ sequence: 2 ** 40, segment: 3, used: 0.25 });
  expect(ours.appended).toEqual({ bytes: 8, sequence: 2 ** 40, segment: 3, used: 0.25 });
});

test('rejects a frame larger than its memory, and keeps the previous one', () => {
  const memory = new FrameMemory(8);
  memory.put(parts('12345', '678'));
  expect(() => memory.put(parts('12345', '6789'))).toThrow(FrameTooLarge);
  expect(Buffer.from(memory.frame).toString()).toBe('12345678');
});
