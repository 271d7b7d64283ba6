import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareSpare, recycle } from '../../../src/storage/journal/directory.ts';
import { JournalFull, JournalWriteError } from '../../../src/storage/journal/errors.ts';
import { journalDirectory } from '../../../src/storage/journal/files.ts';
import { JournalReader } from '../../../src/storage/journal/reader.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import { createBody, type FramesOnDisk, makeJournal, replay, segmentSize, writeFrames } from './frames-on-disk.ts';
import type { Fault, Operation } from './lossy-disk.ts';

const body = (sequence: number) => [Buffer.from(createBody(sequence))];

/** Lets the next operations of the given kinds fail with these faults, one fault per operation. */
function failNext({ disk }: FramesOnDisk, kinds: readonly Operation['kind'][], faults: (Fault | undefined)[]) {
  const due = [...faults];
  disk.fault = ({ kind }) => (kinds.includes(kind) ? due.shift() : undefined);
}

function catchFailure(append: () => unknown): JournalWriteError {
  try {
    append();
  } catch (error) {
    if (error instanceof JournalWriteError) return error;
    throw error;
  }
  throw new Error('it succeeded');
}

describe('JournalWriter.append', () => {
  it('an append makes one write, up to the end of a page, and one sync', () => {
    const { disk, writer } = makeJournal();
    for (const size of [0, 1, 100, 3_000, 5_000]) {
      const before = disk.operations.length;
      const { offset } = writer.position;
      writer.append([Buffer.alloc(size)]);
      const [write, ...others] = disk.operations.slice(before);
      expect(write?.kind).toBe('write');
      expect((offset + write!.length) % 4_096).toBe(0);
      expect(others.map(({ kind }) => kind)).toEqual(['sync']);
    }
  });

  it.each<[string, (Fault | undefined)[], RegExp]>([
    ['a failed write', ['EIO'], /offset 7120: EIO: 0000000001\.segment\. The frame was refused$/],
    ['a short write', ['short'], /offset 7120: 5116 of 5168 bytes were written\. The frame was refused$/],
    ['a failed flush', [undefined, 'EIO'], /offset 7120: EIO: 0000000001\.segment\. The frame was refused$/],
  ])('an append refuses its frame and every later frame after %s', (_, faults, message) => {
    for (const drawn of [0.001, 0.4, 0.99]) {
      const made = makeJournal(() => drawn);
      made.writer.append(body(1));
      failNext(made, ['write', 'sync'], faults);
      const failure = catchFailure(() => made.writer.append(body(2)));
      expect(failure.frameState).toBe('refused');
      if (drawn === 0.99) expect(failure.message).toMatch(message);
      const operations = made.disk.operations.length;
      expect(catchFailure(() => made.writer.append(body(2)))).toBe(failure);
      expect(made.disk.operations.length).toBe(operations);
      expect(replay(made.journal)).toEqual([1]);
      made.disk.losePower();
      expect(replay(made.journal)).toEqual([1]);
    }
  });

  it.each([0, 0.4, 0.99])('an append on a full disk refuses its frame, and the next frame takes its place', (drawn) => {
    const made = makeJournal(() => drawn);
    made.writer.append(body(1));
    failNext(made, ['write', 'sync'], ['ENOSPC']);
    expect(() => made.writer.append(body(2))).toThrow('ENOSPC');
    expect(replay(made.journal)).toEqual([1]);
    expect(made.writer.append(body(2))).toBe(2);
    made.disk.losePower();
    expect(replay(made.journal)).toEqual([1, 2]);
  });

  const bothFail: readonly [string, (Fault | undefined)[]][] = [
    ['the flush and the write of the invalid header fail', [undefined, 'EIO', 'EIO']],
    ['the flush and the flush of the invalid header fail', [undefined, 'EIO', undefined, 'EIO']],
  ];

  it.each(bothFail)('a frame is refused if %s, even if some or all of its bytes are on disk', (_, faults) => {
    for (const drawn of [0, 0.4, 0.99]) {
      const made = makeJournal(() => drawn);
      made.writer.append(body(1));
      failNext(made, ['write', 'sync'], faults);
      expect(catchFailure(() => made.writer.append(body(2))).frameState).toBe('refused');
      expect(replay(made.journal)).toEqual([1]);
      made.disk.losePower();
      expect(replay(made.journal)).toEqual([1]);
      recycle(made.journal, 1, 1);
      // The next process uses the number of the refused frame. A power loss restores the file that records the refusal.
      new JournalWriter(made.journal, 1).append(body(2));
      made.disk.losePower();
      expect(replay(made.journal, 1)).toEqual([2]);
    }
  });

  it.each(bothFail)('the state of a frame is unknown if %s, and the directory cannot be synced', (_, faults) => {
    const made = makeJournal();
    failNext(made, ['write', 'sync', 'syncDirectory'], [...faults, 'EIO']);
    const failure = catchFailure(() => made.writer.append(body(1)));
    expect(failure.frameState).toBe('unknown');
    expect(failure.message).toBe(
      'Cannot write journal segment /journal/0000000001.segment at offset 4096: EIO: 0000000001.segment. The next start can still count the frame',
    );
  });

  it('a frame that a replay did not find is never returned later, even if it is on disk', () => {
    let drawn = 0.99;
    const made = makeJournal(() => drawn);
    made.writer.append(body(1));
    failNext(made, ['sync', 'syncDirectory'], ['EIO', 'EIO', 'EIO']);
    const { fault } = made.disk;
    made.disk.fault = (operation) => {
      // The first flush fails after all data has reached the disk. The second flush fails before any data has reached
      // it.
      if (operation.length === 16) drawn = 0;
      return fault(operation);
    };
    expect(catchFailure(() => made.writer.append(body(2))).frameState).toBe('unknown');
    expect(replay(made.journal)).toEqual([1]);
    const writer = new JournalWriter(made.journal, 1);
    writer.append([Buffer.from(createBody(2).slice(0, 50))]);
    made.disk.losePower();
    const bodies = [...new JournalReader(made.journal, 0).frames()].map((frame) => frame.body.length);
    expect(bodies).toEqual([createBody(1).length, 50]);
  });

  it('appends continue even if a power loss removes a frame that a replay found in the page cache', () => {
    const made = makeJournal();
    failNext(made, ['sync'], ['kill']);
    expect(() => made.writer.append(body(1))).toThrow('killed');
    made.disk.restart();
    expect(replay(made.journal)).toEqual([1]);
    recycle(made.journal, 1, 1); // The store has frame 1.
    new JournalWriter(made.journal, 1).append(body(2));
    made.disk.losePower();
    expect(replay(made.journal, 1)).toEqual([2]);
  });

  it('an append fails if the directory of the journal was removed', () => {
    const directory = mkdtempSync(join(tmpdir(), 'journal-'));
    const journal = { files: journalDirectory(directory), id: Buffer.alloc(16), segmentSize };
    const writer = new JournalWriter(journal, 0);
    rmSync(directory, { recursive: true });
    const failure = catchFailure(() => writer.append(body(1)));
    expect(failure.message).toMatch(/was removed, moved or replaced while it was in use\. The frame was refused$/);
  });
});

describe('beginning a segment', () => {
  /** Number of operations of an append that begins a segment. */
  const count = 13;

  it('only the new frame is refused if any operation fails while a segment is begun', () => {
    for (let at = 1; at <= count; at++) {
      const made = writeFrames(2);
      for (const _ of prepareSpare(made.journal));
      const before = made.disk.operations.length;
      made.disk.fault = () => (made.disk.operations.length === before + at ? 'EIO' : undefined);
      const failure = catchFailure(() => made.writer.append(body(3)));
      expect(failure.frameState).toBe('refused');
      made.disk.fault = () => undefined;
      expect(replay(made.journal)).toEqual([1, 2]);
      made.disk.losePower();
      expect(replay(made.journal)).toEqual([1, 2]);
      expect(new JournalWriter(made.journal, 2).append(body(3))).toBe(3);
    }
  });

  it('a segment gets its header even if another thread creates a spare segment with the same name', () => {
    const { disk, journal, writer } = writeFrames(2);
    disk.remove('spare-0000000000');
    const other = prepareSpare(journal);
    other.next(); // The other spare is complete, except for its name.
    for (const _ of prepareSpare(journal, 'urgent.tmp'));
    disk.fault = ({ kind, length }) => {
      if (kind === 'write' && length === 4_096) {
        disk.fault = () => undefined;
        other.next();
      }
      return undefined;
    };
    writer.append(body(3));
    expect(disk.list().sort()).toEqual(['0000000001.segment', '0000000002.segment', 'spare-0000000000']);
    expect(replay(journal)).toEqual([1, 2, 3]);
  });

  it('an append succeeds in a recycled segment whose new name is not on disk yet', () => {
    const made = writeFrames(4);
    made.disk.remove('spare-0000000000');
    recycle(made.journal, 2);
    failNext(made, ['rename'], ['kill']);
    expect(() => made.writer.append(body(5))).toThrow('killed');
    made.disk.losePower();
    expect(replay(made.journal, 2)).toEqual([3, 4]);
  });
});

it('a writer continues after the last frame of the store if the store is ahead of the journal', () => {
  const { journal } = writeFrames(2);
  const reader = new JournalReader(journal, 10);
  expect([...reader.frames()]).toEqual([]);
  new JournalWriter(journal, 10).append(body(11));
  expect([...reader.frames(11)].map(({ sequence }) => sequence)).toEqual([11]);
  expect(replay(journal, 10)).toEqual([11]);
});

describe('a full disk', () => {
  it('preparing a spare segment and later appends fail until the disk has space again', () => {
    const { disk, journal, writer } = writeFrames(2);
    disk.remove('spare-0000000000');
    for (const free of [0, 1, 4_096, segmentSize - 1]) {
      disk.capacity = segmentSize + free;
      expect(() => [...prepareSpare(journal)]).toThrow('ENOSPC');
      expect(disk.list()).toEqual(['0000000001.segment']);
      expect(() => writer.append(body(3))).toThrow(JournalFull);
    }
    disk.capacity = 2 * segmentSize;
    expect([...prepareSpare(journal)]).toHaveLength(1);
    expect(writer.append(body(3))).toBe(3);
    expect(replay(journal)).toEqual([1, 2, 3]);
  });

  it('a process on a full disk begins its journal in the spare segment of the previous process', () => {
    const { disk, journal } = writeFrames(2);
    disk.capacity = 2 * segmentSize;
    expect(new JournalWriter(journal, 2).append(body(3))).toBe(3);
  });

  it('a process on a full disk cannot begin a journal without a spare segment', () => {
    const { disk, journal } = writeFrames(2);
    disk.remove('spare-0000000000');
    disk.capacity = segmentSize;
    expect(() => new JournalWriter(journal, 2)).toThrow('ENOSPC');
    expect(disk.list()).toEqual(['0000000001.segment']);
    disk.capacity = 2 * segmentSize;
    expect(new JournalWriter(journal, 2).append(body(3))).toBe(3);
  });

  it('an abandoned or interrupted preparation of a spare segment leaves no unfinished file', () => {
    const { disk, journal } = makeJournal();
    const preparing = prepareSpare(journal);
    preparing.next();
    preparing.return();
    expect(disk.list()).toEqual(['0000000001.segment']);
    prepareSpare(journal).next();
    expect(disk.list()).toContain('prepare.tmp');
    expect([...prepareSpare(journal)]).toHaveLength(1);
    disk.put('prepare.tmp', new Uint8Array(10));
    expect([...prepareSpare(journal)]).toEqual([]);
    expect(disk.list().sort()).toEqual(['0000000001.segment', 'spare-0000000000']);
  });
});
