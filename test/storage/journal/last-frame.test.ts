import { beforeEach, describe, expect, it } from 'vitest';
import { segmentNames } from '../../../src/storage/journal/segment.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import {
  appendFrames,
  bodyOf,
  type FramesOnDisk,
  replay,
  writeFrames,
  writeRecycled,
} from './frames-on-disk.ts';

/** The newest segment holds frame 5, and frame 6, which is harmed. */
const begin = 4_096 + 3_024;
const length = 216;
const offsets = Array.from({ length }, (_, index) => begin + index);

describe.each<[string, () => FramesOnDisk]>([
  ['in a new segment', () => writeFrames(5)],
  ['in a recycled segment', () => writeRecycled(5)],
])('the last frame %s', (_, write) => {
  let made: FramesOnDisk;
  let name: string;
  let whole: Uint8Array;
  beforeEach(() => {
    made = write();
    made.writer.append([Buffer.from(bodyOf(6).slice(0, length - 16))]);
    name = segmentNames(made.disk.list()).at(-1)!;
    whole = made.disk.contents(name);
  });

  /** What a replay returns when the newest segment was altered. */
  function replayAltered(alter: (bytes: Uint8Array) => Uint8Array): number[] {
    made.disk.alter(name, () => alter(whole.slice()));
    return replay(made.journal, 4);
  }

  it('is returned while it is whole', () => {
    expect(replay(made.journal, 4)).toEqual([5, 6]);
    expect(made.disk.contents(name)).toEqual(whole);
  });

  it('is not there when any of its bytes is another', () => {
    for (const at of offsets) {
      const found = replayAltered((bytes) => {
        bytes[at]! ^= 1 << (at % 8);
        return bytes;
      });
      expect(found).toEqual([5]);
    }
  });

  it.each([
    ['zeros', () => new Uint8Array(length)],
    ['an older frame', () => whole.slice(4_096, 4_096 + length)],
    ['noise', () => Uint8Array.from({ length }, (_, index) => (index * 7_919) >> 3)],
  ])('is not there when it ends at any byte, and %s follow', (_, before) => {
    for (const at of offsets) {
      const rest = before().subarray(at - begin);
      const found = replayAltered((bytes) => {
        bytes.set(rest, at);
        return bytes;
      });
      expect(found).toEqual([5]);
    }
  });

  it('is damage when the file ends at any of its bytes', () => {
    for (const at of offsets)
      expect(() => replayAltered((bytes) => bytes.slice(0, at))).toThrow(
        `Cannot read journal segment /journal/${name} at offset ${at}: it has ${at} bytes instead of`,
      );
  });

  it('is written again by the next process, and then only that one counts', () => {
    const { disk, journal } = made;
    expect(replayAltered((bytes) => bytes.fill(0, begin + 100))).toEqual([5]);
    appendFrames(journal, new JournalWriter(journal, 5), 6, 7);
    expect(replay(journal, 4)).toEqual([5, 6, 7]);
    disk.alter(name, () => whole);
    expect(replay(journal, 4)).toEqual([5, 6, 7]);
  });
});
