import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { prepareSpare, recycle } from '../../../src/storage/journal/directory.ts';
import { type JournalFiles, journalDirectory } from '../../../src/storage/journal/files.ts';
import { chunk, JournalReader } from '../../../src/storage/journal/reader.ts';
import type { Journal } from '../../../src/storage/journal/segment.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import { seededRandom } from '../../support/random.ts';
import { LossyDisk } from './lossy-disk.ts';

const root = mkdtempSync(join(tmpdir(), 'journal-'));
let directories = 0;
afterAll(() => rmSync(root, { recursive: true }));

describe.each<[string, () => JournalFiles]>([
  ['node:fs', () => journalDirectory(join(root, `made/${++directories}`))],
  ['the disk of the tests', () => new LossyDisk(seededRandom(1))],
])('JournalFiles on %s', (_, makeFiles) => {
  let files: JournalFiles;
  beforeEach(() => {
    files = makeFiles();
  });

  describe('a file', () => {
    const write = (name: string, text: string) => {
      const file = files.open(name, 'create');
      expect(file.write(Buffer.from(text), 0)).toBe(text.length);
      file.sync();
      return file;
    };
    const read = (name: string) => {
      const target = Buffer.alloc(20);
      return target.toString('utf8', 0, files.open(name, 'read').read(target, 0));
    };

    it('a file is read from an offset to its end', () => {
      write('a', '0123456789');
      const target = Buffer.alloc(8);
      expect(files.open('a', 'read').read(target, 4)).toBe(6);
      expect(target.toString()).toBe('456789\0\0');
      expect(files.open('a', 'read').read(target, 10)).toBe(0);
    });

    it('a file grows when it is written beyond its end', () => {
      const file = write('a', 'ab');
      expect(file.write(Buffer.from('c'), 3)).toBe(1);
      expect(read('a')).toBe('ab\0c');
      expect(files.size('a')).toBe(4);
    });

    it('a file keeps its content if it is opened for writing, and is empty if it is created again', () => {
      write('a', 'ab');
      files.open('a', 'write').write(Buffer.from('c'), 0);
      expect(read('a')).toBe('cb');
      files.open('a', 'create');
      expect(read('a')).toBe('');
    });

    it('a renamed file replaces another file', () => {
      write('a', 'new');
      write('b', 'old');
      files.rename('a', 'b');
      files.syncDirectory();
      expect(read('b')).toBe('new');
      expect(files.list()).toEqual(['b']);
    });

    it('a removed file is missing', () => {
      write('a', 'x');
      files.remove('a');
      files.remove('a');
      expect(files.list()).toEqual([]);
      expect(files.size('a')).toBeUndefined();
      expect(() => files.open('a', 'read')).toThrow('ENOENT');
      expect(() => files.open('a', 'write')).toThrow('ENOENT');
      expect(() => files.rename('a', 'b')).toThrow('ENOENT');
    });

    it('an open file detects that another file has replaced it at its path', () => {
      const file = write('a', 'x');
      file.checkPlace();
      write('b', 'y');
      files.rename('b', 'a');
      expect(() => file.checkPlace()).toThrow('was removed, moved or replaced');
    });
  });

  describe('the journal', () => {
    let journal: Journal;
    beforeEach(() => {
      journal = { files, id: Buffer.alloc(16, 1), segmentSize: 12_288 };
    });
    const text = (sequence: number, length = 3_000) => `${sequence}:${'x'.repeat(length)}`;
    const texts = (reader: JournalReader, upTo?: number) => [...reader.frames(upTo)].map(({ body }) => body.toString());
    const prepare = () => [...prepareSpare(journal)];
    const append = (writer: JournalWriter, from: number, to: number) => {
      for (let sequence = from; sequence <= to; sequence++)
        expect(writer.append([Buffer.from(text(sequence))])).toBe(sequence);
    };

    it('a reader reads frames while a writer appends to the same journal', () => {
      const writer = new JournalWriter(journal, 0);
      const reader = new JournalReader(journal, 0);
      append(writer, 1, 2);
      expect(texts(reader, 1)).toEqual([text(1)]);
      expect(texts(reader, 1)).toEqual([]);
      prepare();
      append(writer, 3, 4);
      expect(texts(reader, 4)).toEqual([text(2), text(3), text(4)]);
      expect(reader.position).toEqual(writer.position);
    });

    it('a reader that was opened before the first segment existed reads the journal', () => {
      const reader = new JournalReader(journal, 7);
      expect(texts(reader)).toEqual([]);
      append(new JournalWriter(journal, 7), 8, 8);
      expect(texts(reader, 8)).toEqual([text(8)]);
    });

    it('a new reader returns the frames after any given frame', () => {
      const writer = new JournalWriter(journal, 0);
      for (let from = 1; from < 7; from += 2, prepare()) append(writer, from, from + 1);
      writer.close();
      for (let after = 0; after <= 9; after++) {
        const reader = new JournalReader(journal, after);
        expect(texts(reader)).toEqual([1, 2, 3, 4, 5, 6].filter((n) => n > after).map((n) => text(n)));
        expect(texts(reader)).toEqual([]);
      }
    });

    it.each([-24, -16, -8, 0, 8])(
      'the journal is read in chunks if a frame ends %i bytes after the end of a chunk',
      (distance) => {
        journal = { ...journal, segmentSize: 4 * chunk };
        const lengths = [chunk - 16 + distance, 5_000, 2 * chunk, 700_000];
        const writer = new JournalWriter(journal, 0, journal.segmentSize);
        for (const [index, length] of lengths.entries()) writer.append([Buffer.alloc(length, index)]);
        const reader = new JournalReader(journal, 0);
        for (let round = 0; round < 2; round++) {
          const found = [...reader.frames()].map(({ body }) => [body[0], body.at(-1), body.length]);
          expect(found).toEqual(round === 0 ? lengths.map((length, index) => [index, index, length]) : []);
        }
        expect([...new JournalReader(journal, 0).frames()]).toHaveLength(4);
        files.open('0000000001.segment', 'write').write(Buffer.alloc(20), 4_096);
        expect(() => [...new JournalReader(journal, 0).frames()]).toThrow(
          'at offset 4096: frame 1 is damaged, and frame 2 follows',
        );
      },
    );

    it('a journal refuses a frame while no spare segment is ready, and accepts it afterwards', () => {
      const writer = new JournalWriter(journal, 0);
      append(writer, 1, 2);
      expect(() => append(writer, 3, 3)).toThrow('has no spare segment');
      prepare();
      append(writer, 3, 3);
    });

    it('a journal accepts a frame that fills a segment, and refuses a longer frame', () => {
      const writer = new JournalWriter(journal, 0, 8_192);
      prepare();
      const fill = Buffer.alloc(12_288 - 4_096 - 16, 'y');
      expect(() => writer.append([fill, Buffer.alloc(1)])).toThrow('A frame of 8177 bytes does not fit');
      expect(writer.append([fill.subarray(100), fill.subarray(0, 100)])).toBe(1);
      expect(texts(new JournalReader(journal, 0))).toEqual([fill.toString()]);
    });

    it('recycling turns segments of the right size into spare segments, and removes other segments', () => {
      const writer = new JournalWriter(journal, 0, 8_192);
      for (let frame = 1; frame < 6; frame++, prepare()) append(writer, frame, frame);
      prepare();
      const before = files.list().sort();
      recycle(journal, 0);
      expect(files.list().sort()).toEqual(before);
      files.remove('spare-0000000000');
      recycle(journal, 3);
      expect(files.list().sort()).toEqual(['0000000003.segment', 'spare-0000000002']);
      recycle(journal, 5);
      expect(files.list().sort()).toEqual(['0000000003.segment', 'spare-0000000002']);
      writer.close();
      recycle(journal, 5, 5);
      expect(files.list().sort()).toEqual(['empty', 'spare-0000000002', 'spare-0000000003']);
      expect(new JournalWriter(journal, 5).position).toEqual({ generation: 4, offset: 4_096, sequence: 5 });
      expect(files.list().sort()).toEqual(['0000000004.segment', 'spare-0000000003']);
    });

    it('recycling keeps at most three spare segments', () => {
      const writer = new JournalWriter(journal, 0);
      for (let frame = 1; frame < 14; frame++, prepare()) append(writer, frame, frame);
      recycle(journal, 13);
      const spares = files.list().filter((name) => name.startsWith('spare-'));
      expect(spares).toHaveLength(3);
      expect(files.list()).toHaveLength(4);
      writer.close();
    });

    it('a journal replaces spare segments of another size, and continues after segments of another size', () => {
      append(new JournalWriter(journal, 0), 1, 2);
      prepare();
      journal = { ...journal, segmentSize: 16_384 };
      prepare();
      const writer = new JournalWriter(journal, 2);
      append(writer, 3, 5);
      expect(texts(new JournalReader(journal, 0))).toEqual([1, 2, 3, 4, 5].map((n) => text(n)));
      recycle(journal, 2);
      expect(files.list()).toEqual(['0000000002.segment']);
    });
  });
});
