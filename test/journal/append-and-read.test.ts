import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { journalDirectory } from '../../src/journal/files.ts';
import { JournalReader } from '../../src/journal/reader.ts';
import { prepareSpare, recycle } from '../../src/journal/spares.ts';
import { JournalWriter } from '../../src/journal/writer.ts';

const directory = mkdtempSync(join(tmpdir(), 'journal-'));
afterEach(() => rmSync(directory, { recursive: true }));

it('appends to a directory, reads while appending, recycles, and starts again', () => {
  const journal = { files: journalDirectory(directory), id: Buffer.alloc(16, 1), segmentSize: 12_288 };
  const texts = (reader: JournalReader, upTo?: number) =>
    [...reader.frames(upTo)].map(({ body }) => body.toString());
  const text = (sequence: number) => `${sequence}:${'x'.repeat(3_000)}`;
  const writer = new JournalWriter(journal, 0);
  const reader = new JournalReader(journal, 0);
  const append = (sequence: number) => expect(writer.append([Buffer.from(text(sequence))])).toBe(sequence);

  append(1);
  expect(texts(reader, 1)).toEqual([text(1)]);
  append(2);
  expect(() => append(3)).toThrow('has no spare segment');
  for (const _ of prepareSpare(journal));
  append(3);
  expect(texts(reader, 3)).toEqual([text(2), text(3)]);
  recycle(journal, 2);
  expect(journal.files.list().sort()).toEqual(['0000000002.segment', 'spare-0000000001']);
  append(4);
  append(5);
  writer.close();

  const replay = new JournalReader(journal, 3);
  expect(texts(replay)).toEqual([text(4), text(5)]);
  expect(replay.confirm()).toBe(5);
});
