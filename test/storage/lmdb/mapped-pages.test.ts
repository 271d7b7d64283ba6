import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLmdb, openTable } from '../../../src/storage/lmdb/lmdb.ts';
import { openMappedPages } from '../../../src/storage/lmdb/mapped-pages.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const entries = 2000;
const createKey = (entry: number) => Buffer.from(String(entry).padStart(6, '0'));

/** Returns how many kilobytes of the map of a file are resident. */
function residentKb(file: string): number {
  const text = readFileSync('/proc/self/smaps', 'utf8');
  const map = text.slice(text.indexOf(` ${file}\n`));
  return Number(/^Rss:\s+(\d+) kB/m.exec(map)?.[1]);
}

test.skipIf(process.versions['bun'] === undefined)(
  'openMappedPages releases the pages of a data file, and later reads see all changes',
  async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'data.mdb');
    const lmdb = openLmdb(directory);
    const table = openTable(lmdb, 'values');
    const fill = (value: number) =>
      table.transaction(() => {
        for (let entry = 0; entry < entries; entry += 1) void table.put(createKey(entry), Buffer.alloc(1000, value));
      });
    const values = () => new Set(Array.from({ length: entries }, (_, entry) => table.get(createKey(entry))![999]));
    await fill(1);
    expect(values()).toEqual(new Set([1]));
    const before = residentKb(file);
    expect(before).toBeGreaterThan(entries);

    const release = (await openMappedPages())!;
    lmdb.resetReadTxn();
    release([file]);
    expect(residentKb(file)).toBeLessThan(before / 4);
    expect(values()).toEqual(new Set([1]));
    await fill(2);
    release([file]);
    lmdb.resetReadTxn();
    expect(values()).toEqual(new Set([2]));
    await lmdb.close();
  },
);

test.skipIf(process.versions['bun'] !== undefined)('openMappedPages is not available on Node', async () => {
  expect(await openMappedPages()).toBeUndefined();
});
