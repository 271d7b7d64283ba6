import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { JournalDamageError } from '../../../src/storage/journal/errors.ts';
import { JournalReader } from '../../../src/storage/journal/reader.ts';
import { checksumStart, encodeFrame, readSegments } from '../../../src/storage/journal/segment.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import {
  appendFrames,
  makeJournal,
  replay,
  segmentSize,
  sizeOfFrame,
  writeFrames,
  writeRecycled,
} from './frames-on-disk.ts';
import { LossyDisk } from './lossy-disk.ts';

const [first, second, third] = ['0000000001.segment', '0000000002.segment', '0000000003.segment'] as const;

/** Flips a bit. */
const flip = (at: number) => (bytes: Uint8Array) => {
  bytes[at]! ^= 1 << (at % 8);
  return bytes;
};

/** Writes a field of a header, and its checksum. */
const setHeader = (at: number, value: number) => (bytes: Uint8Array) => {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, 60);
  header.writeUInt32LE(value, at);
  header.writeUInt32LE(crc32(header.subarray(0, 56)), 56);
  return bytes;
};

const remedy =
  'Restore a backup. To start without the packets that were not yet folded into the store, move the journal away';

describe('JournalReader over six frames in three segments', () => {
  it.each<[string, (disk: LossyDisk) => void, string]>([
    [
      'a missing segment',
      (disk) => disk.remove(second),
      `${first} at offset 10144: frames 3 to 4 are damaged or missing`,
    ],
    [
      'a missing first segment',
      (disk) => disk.remove(first),
      `${second} at offset 0: frames 1 to 2 are damaged or missing: it begins with 3`,
    ],
    [
      'a damaged frame before other frames',
      (disk) => disk.alter(third, flip(4_100)),
      `${third} at offset 4096: frame 5 is damaged, and frame 6 follows`,
    ],
    [
      'a damaged frame at the end of a segment',
      (disk) => disk.alter(first, flip(7_200)),
      `${first} at offset 7120: frames 2 to 2 are damaged or missing`,
    ],
    [
      'a segment cut in its header',
      (disk) => disk.alter(second, (bytes) => bytes.slice(0, 30)),
      `${second} at offset 0: its header is damaged`,
    ],
    [
      'an empty segment',
      (disk) => disk.alter(second, () => new Uint8Array()),
      `${second} at offset 0: its header is damaged`,
    ],
    [
      'a segment that has grown',
      (disk) => disk.alter(second, (bytes) => Buffer.concat([bytes, bytes])),
      `${second} at offset 24576: it has 24576 bytes instead of 12288`,
    ],
    [
      'a segment under the name of another segment',
      (disk) => disk.put(second, disk.contents(third)),
      `${second} at offset 0: it is a copy of ${third}`,
    ],
    [
      'a copy of a segment',
      (disk) => disk.put('0000000004.segment', disk.contents(third)),
      `0000000004.segment at offset 0: it is a copy of ${third}`,
    ],
    [
      'a read error',
      (disk) => {
        disk.fault = ({ kind, name }) => (kind === 'read' && name === second ? 'EIO' : undefined);
      },
      `${second} at offset 0: it cannot be read (EIO: ${second})`,
    ],
  ])('a reader reports %s', (_, harm, message) => {
    const { disk, journal } = writeFrames(6);
    harm(disk);
    expect(() => replay(journal)).toThrow(`Cannot read journal segment /journal/${message}. ${remedy}`);
    expect(() => replay(journal)).toThrow(JournalDamageError);
  });

  it('a reader reports both of two swapped segments', () => {
    const { disk, journal } = writeFrames(6);
    const contents = disk.contents(second);
    disk.put(second, disk.contents(third));
    disk.put(third, contents);
    expect(() => replay(journal)).toThrow(`${second} at offset 0: it is a copy of ${third}`);
    disk.remove(second);
    expect(() => replay(journal)).toThrow(`${third} at offset 0: it is a copy of ${second}`);
  });

  it('a reader reports a segment of another journal', () => {
    const { disk, journal } = writeFrames(6);
    const other = makeJournal();
    const journalOfOther = { ...other.journal, id: Buffer.alloc(16, 2) };
    appendFrames(journalOfOther, new JournalWriter(journalOfOther, 2), 3, 4);
    disk.put(second, other.disk.contents(second));
    expect(() => replay(journal)).toThrow(
      `Cannot read journal segment /journal/${second} at offset 0: it belongs to another data directory. Move it back to that directory`,
    );
  });

  it('a reader reports a segment of a later version', () => {
    const { disk, journal } = writeFrames(6);
    disk.alter(third, setHeader(8, 2));
    expect(() => replay(journal)).toThrow(
      `/journal/${third} at offset 0: it has layout 2, but this version of flagmeter reads layout 1. Start the version that wrote it`,
    );
  });

  it('a reader reports any changed byte of a header', () => {
    const { disk, journal } = writeFrames(6);
    for (let at = 0; at < 60; at++) {
      disk.alter(second, flip(at));
      expect(() => replay(journal)).toThrow(`/journal/${second} at offset 0: its header is damaged`);
      disk.alter(second, flip(at));
    }
    expect(replay(journal)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('a reader reports any changed byte of a frame before the last frame', () => {
    const { disk, journal } = writeFrames(6);
    const begin = 4_096;
    for (let at = begin; at < begin + sizeOfFrame; at += at < begin + 32 ? 1 : 37) {
      disk.alter(third, flip(at));
      expect(() => replay(journal, 4)).toThrow(
        `/journal/${third} at offset 4096: frame 5 is damaged, and frame 6 follows`,
      );
      disk.alter(third, flip(at));
    }
  });

  it('a reader reports a gap in the sequence numbers', () => {
    const { disk, journal } = writeFrames(6);
    const frame = Buffer.alloc(24);
    encodeFrame(frame, 9, [Buffer.alloc(8)], checksumStart(readSegments(journal)[2]!, 7_120));
    disk.alter(third, (bytes) => {
      bytes.set(frame, 7_120);
      return bytes;
    });
    expect(() => replay(journal)).toThrow(`${third} at offset 7120: expected frame 6, found frame 9`);
  });

  it('a replay ends at a frame of another journal, even if the frame is at the expected offset', () => {
    const { disk, journal } = writeFrames(1);
    const other = { files: new LossyDisk(() => 0), id: Buffer.alloc(16, 2), segmentSize };
    appendFrames(other, new JournalWriter(other, 0), 1, 2);
    expect(replay(other)).toEqual([1, 2]);
    disk.alter(first, (bytes) => {
      bytes.set(other.files.contents(first).subarray(7_120), 7_120);
      return bytes;
    });
    expect(replay(journal)).toEqual([1]);
  });

  it('a replay ends at a frame that is a copy of another frame', () => {
    const { disk, journal } = writeFrames(6);
    disk.alter(third, (bytes) => bytes.copyWithin(7_120, 4_096, 7_120));
    expect(replay(journal)).toEqual([1, 2, 3, 4, 5]);
  });

  it('a replay without the newest segments ends at the last frame of the other segments', () => {
    const { disk, journal } = writeFrames(6);
    disk.remove(third);
    expect(replay(journal)).toEqual([1, 2, 3, 4]);
  });

  it('a reader ignores damage and gaps before the frames that the store lacks', () => {
    const { disk, journal } = writeFrames(6);
    disk.alter(third, flip(4_100));
    expect(replay(journal, 6)).toEqual([]);
    disk.remove(first);
    expect(replay(writeFrames(6).journal, 2)).toEqual([3, 4, 5, 6]);
    expect(replay(journal, 9)).toEqual([]);
  });

  it('a reader ignores files that do not belong to the journal', () => {
    const { disk, journal } = writeFrames(6);
    disk.put('lost+found', new Uint8Array(10));
    disk.put('1.segment', new Uint8Array(10));
    expect(replay(journal)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

it('a recycled segment does not return its older frames, even if they are complete and at valid offsets', () => {
  const { disk, journal } = writeRecycled(6);
  const older = Buffer.alloc(4_000, 4);
  expect(Buffer.from(disk.contents(second)).indexOf(older)).toBe(4_096 + 3 * 4_016 + 16);
  expect(replay(journal, 4)).toEqual([5, 6]);
});

it('a reader of a running journal reports a damaged frame that was acknowledged', () => {
  const { disk, journal } = writeFrames(2);
  const reader = new JournalReader(journal, 0);
  disk.alter(first, flip(7_200));
  expect(() => [...reader.frames(2)]).toThrow(
    `/journal/${first} at offset 7120: frame 2, which was acknowledged, is damaged`,
  );
});
