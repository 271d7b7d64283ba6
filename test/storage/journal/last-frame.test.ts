import { beforeEach, describe, expect, it } from 'vitest';
import { prepareSpare } from '../../../src/storage/journal/directory.ts';
import { JournalReader } from '../../../src/storage/journal/reader.ts';
import { type Journal, segmentNames } from '../../../src/storage/journal/segment.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import { appendFrames, createBody, type FramesOnDisk, replay, writeFrames, writeRecycled } from './frames-on-disk.ts';

const length = 216;
const afterFrame5 = 4_096 + 3_024;
const atPage = 4_096;
const olderFrame = writeFrames(1)
  .disk.contents('0000000001.segment')
  .slice(atPage, atPage + length);

/** The newest segment has only frame 6, or frames 5 and 6. The tests damage frame 6. */
describe.each<[string, number, () => FramesOnDisk]>([
  ['last frame in a new segment', afterFrame5, () => writeFrames(5)],
  ['last frame in a recycled segment', afterFrame5, () => writeRecycled(5)],
  ['only frame in a new segment', atPage, () => startedAt6(writeFrames(5))],
  ['only frame in a recycled segment', atPage, () => startedAt6(writeRecycled(5))],
])('the %s', (_, begin, write) => {
  const offsets = Array.from({ length }, (_, index) => begin + index);
  let made: FramesOnDisk;
  let name: string;
  let whole: Uint8Array;
  beforeEach(() => {
    made = write();
    made.writer.append([Buffer.from(createBody(6).slice(0, length - 16))]);
    name = segmentNames(made.disk.list()).at(-1)!;
    whole = made.disk.contents(name);
  });

  /** The result of a replay of an altered newest segment. */
  function replayAltered(alter: (bytes: Uint8Array) => Uint8Array): number[] {
    made.disk.alter(name, () => alter(whole.slice()));
    return replay(made.journal, 4);
  }

  it('the last frame is returned if it is complete', () => {
    expect(replay(made.journal, 4)).toEqual([5, 6]);
    expect(made.disk.contents(name)).toEqual(whole);
  });

  it('the last frame is reported as incomplete and not returned if any of its bytes differs', () => {
    for (const at of offsets) {
      const found = replayAltered((bytes) => {
        bytes[at]! ^= 1 << (at % 8);
        return bytes;
      });
      expect(found).toEqual([5]);
      expect(incompleteIn(made.journal)).toBe(
        `journal segment /journal/${name} at offset ${begin}: the last frame is incomplete: expected after a power loss, otherwise restore a backup`,
      );
    }
  });

  it('a last frame that is complete, was not begun, or was refused is not reported as incomplete', () => {
    expect(incompleteIn(made.journal)).toBeUndefined();
    replayAltered((bytes) => bytes.fill(0, begin, begin + 16));
    expect(incompleteIn(made.journal)).toBeUndefined();
    expect(incompleteIn(write().journal)).toBeUndefined();
  });

  it.each([
    ['zeros', () => new Uint8Array(length)],
    ['an older frame', () => olderFrame],
    ['noise', () => Uint8Array.from({ length }, (_, index) => (index * 7_919) >> 3)],
  ])('a last frame that ends early at any byte, followed by %s, is not returned', (_, before) => {
    for (const at of offsets) {
      const rest = before().subarray(at - begin);
      const found = replayAltered((bytes) => {
        bytes.set(rest, at);
        return bytes;
      });
      expect(found).toEqual([5]);
    }
  });

  it('the last frame is reported as damaged if the file ends at any of its bytes', () => {
    for (const at of offsets)
      expect(() => replayAltered((bytes) => bytes.slice(0, at))).toThrow(
        `Cannot read journal segment /journal/${name} at offset ${at}: it has ${at} bytes instead of`,
      );
  });

  it('the first frame of the next process replaces the damaged last frame', () => {
    const { disk, journal } = made;
    expect(replayAltered((bytes) => bytes.fill(0, begin + 100))).toEqual([5]);
    appendFrames(journal, new JournalWriter(journal, 5), 6, 7);
    expect(replay(journal, 4)).toEqual([5, 6, 7]);
    expect(incompleteIn(journal)).toBeUndefined();
    disk.alter(name, () => whole);
    expect(replay(journal, 4)).toEqual([5, 6, 7]);
  });
});

/** Another process begins a segment with frame 6. */
function startedAt6({ disk, journal }: FramesOnDisk): FramesOnDisk {
  for (const _ of prepareSpare(journal));
  return { disk, journal, writer: new JournalWriter(journal, 5) };
}

/** Returns what a replay reports about the end of the journal. */
function incompleteIn(journal: Journal): string | undefined {
  const reader = new JournalReader(journal, 4);
  for (const _ of reader.frames());
  return reader.incomplete;
}
