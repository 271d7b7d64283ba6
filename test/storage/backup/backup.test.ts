import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BlockChain, encodeHead, magic } from '../../../src/storage/backup/format.ts';
import { InterruptedError } from '../../../src/storage/backup/pace.ts';
import { readBackup } from '../../../src/storage/backup/read-backup.ts';
import { restore } from '../../../src/storage/backup/restore.ts';
import { writeFileWhole } from '../../../src/storage/backup/write-file.ts';
import { PageSet } from '../../../src/storage/lmdb/check-pages.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { damagePage, pagesIn } from '../../support/damage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { backUp, everythingIn, filledDirectory, interruptedAt, restless, steady } from './data-directory.ts';

async function makeBackup(): Promise<{ readonly data: string; readonly file: string }> {
  const data = filledDirectory();
  const file = join(dirname(data), 'backup');
  await backUp(data, file);
  return { data, file };
}

function freshTarget(): string {
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data);
  return data;
}

test('a restore yields the data that was backed up', async () => {
  const { data, file } = await makeBackup();
  const target = freshTarget();
  await restore(file, target, steady);
  expect(await everythingIn(target)).toEqual(await everythingIn(data));
});

test('a backup contains the state at its start, despite later writes', async () => {
  const data = filledDirectory();
  const before = await everythingIn(data);
  const usage = openUsageTables(data);
  const file = join(dirname(data), 'backup');
  let writes = 0;
  const busy = restless(() => {
    writes += 1;
    const key = Buffer.alloc(8, writes % 256);
    usage.lmdb.transactionSync(() => usage.seen.putSync(key, Buffer.alloc(256)));
    return false;
  });
  await backUp(data, file, busy);
  await usage.lmdb.close();
  expect(writes).toBeGreaterThan(10);
  const target = freshTarget();
  await restore(file, target, steady);
  expect(await everythingIn(target)).toEqual(before);
  expect((await everythingIn(data)).length).toBeGreaterThan(before.length);
});

test('a backup with any changed byte, or a truncated backup, is refused with the name of its file', async () => {
  const { file } = await makeBackup();
  const whole = readFileSync(file);
  const altered = join(dirname(file), 'altered');
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (at, change, cut) => {
        const bytes = Buffer.from(cut ? whole.subarray(0, at) : whole);
        if (!cut) bytes[at]! ^= change;
        writeFileSync(altered, bytes);
        const refused = await readBackup(altered, {}, steady).then(() => '', String);
        expect(refused).toMatch(`Cannot use ${altered}: it is `);
      },
    ),
    { numRuns: 300 },
  );
});

test('a backup that is truncated to any length is reported as truncated, with its size', async () => {
  const { file } = await makeBackup();
  const whole = readFileSync(file);
  const cut = join(dirname(file), 'cut');
  for (const bytes of [0, 7, 16, 20, 100, 271, 272, 5000, whole.length / 2, whole.length - 40, whole.length - 1]) {
    writeFileSync(cut, whole.subarray(0, Math.floor(bytes)));
    await expect(readBackup(cut, {}, steady)).rejects.toThrow(
      `Cannot use ${cut}: it is truncated after ${Math.floor(bytes)} bytes; use another backup`,
    );
  }
});

test('a backup with omitted, repeated or moved blocks is refused', async () => {
  const { file } = await makeBackup();
  const whole = readFileSync(file);
  const blocks: Buffer[] = [];
  for (let at = magic.length; at < whole.length; ) {
    const end = at + 8 + whole.readUInt32LE(at + 4) + 32;
    blocks.push(whole.subarray(at, end));
    at = end;
  }
  expect(blocks.length).toBeGreaterThan(5);
  const [description, first, second, ...rest] = blocks as [Buffer, Buffer, Buffer, ...Buffer[]];
  const orders = [
    [description, second, ...rest],
    [description, first, first, second, ...rest],
    [description, second, first, ...rest],
    [...blocks, blocks.at(-1)!],
  ];
  for (const order of orders) {
    writeFileSync(file, Buffer.concat([magic, ...order]));
    await expect(readBackup(file, {}, steady)).rejects.toThrow(`Cannot use ${file}: `);
  }
});

test('the error for a backup in a later format has this format and the latest supported format', async () => {
  const file = join(temporaryDirectory(), 'backup');
  const content = Buffer.from(JSON.stringify({ format: 2, program: '9.0.0', at: '', stores: [] }));
  const head = encodeHead(1, content.length);
  writeFileSync(file, Buffer.concat([magic, head, content, new BlockChain().digest([head, content])]));
  await expect(readBackup(file, {}, steady)).rejects.toThrow(
    'flagmeter 9.0.0 wrote it in format 2, and this version supports formats up to 1; use a later version',
  );
});

test.each(['accounts', 'usage', 'spool', 'journal'])('a restore is refused if %s/ exists', async (store) => {
  const { file } = await makeBackup();
  const target = freshTarget();
  mkdirSync(join(target, store));
  await expect(restore(file, target, steady)).rejects.toThrow(`Cannot restore into ${target}: it has data`);
  expect(readdirSync(target)).toEqual([store]);
});

test('a failed or interrupted restore leaves the directory empty', async () => {
  const { file } = await makeBackup();
  const target = freshTarget();
  await expect(restore(file, target, interruptedAt(25))).rejects.toThrow(InterruptedError);
  expect(readdirSync(target)).toEqual([]);
  writeFileSync(file, readFileSync(file).subarray(0, -1));
  await expect(restore(file, target, steady)).rejects.toThrow(`Cannot use ${file}: it is truncated after`);
  expect(readdirSync(target)).toEqual([]);
});

test('a failed or interrupted backup does not change the previous backup', async () => {
  const { data, file } = await makeBackup();
  const before = readFileSync(file);
  await expect(backUp(data, file, interruptedAt(5))).rejects.toThrow(InterruptedError);
  const full = writeFileWhole(file, async (sink) => {
    await sink.write([Buffer.alloc(10)]);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  await expect(full).rejects.toThrow(`Cannot write ${file}: no space left on device`);
  const tooLarge = writeFileWhole(file, async (sink) => sink.expect?.(2 ** 60));
  await expect(tooLarge).rejects.toThrow(`Cannot write ${file}: no space left on device (the file needs`);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(dirname(file)).sort()).toEqual(['backup', 'data']);
});

test('a damaged store is not backed up, and the previous backup is kept', async () => {
  const { data, file } = await makeBackup();
  const before = readFileSync(file);
  const store = join(data, 'usage/data.mdb');
  const page = pagesIn(store).get('leaf')!.at(-1)!;
  damagePage(store, page, 10, Buffer.from([0xff, 0xff]));
  await expect(backUp(data, file)).rejects.toThrow();
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('backing up an unprepared directory fails, and leaves the directory unchanged', async () => {
  const data = freshTarget();
  await expect(backUp(data, join(dirname(data), 'backup'))).rejects.toThrow('it is not a prepared data directory');
  expect(readdirSync(data)).toEqual([]);
  expect(existsSync(join(dirname(data), 'backup'))).toBe(false);
});

test('an error explains why a backup cannot be written or read', async () => {
  const data = filledDirectory();
  const folder = dirname(data);
  const nowhere = join(folder, 'nowhere/backup');
  await expect(backUp(data, folder)).rejects.toThrow(`Cannot write ${folder}: it is a directory`);
  await expect(backUp(data, nowhere)).rejects.toThrow(`Cannot write ${nowhere}: its directory does not exist`);
  await expect(readBackup(nowhere, {}, steady)).rejects.toThrow(`Cannot use ${nowhere}: no such file`);
  await expect(readBackup(folder, {}, steady)).rejects.toThrow(`Cannot use ${folder}: it is a directory`);
});

test('a page set returns its pages as ranges of consecutive pages', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(300)), fc.integer({ min: 1, max: 20 }), (pages, limit) => {
      const set = new PageSet(301);
      for (const page of pages) set.add(page, 1);
      const runs = [...set.runs(limit)];
      expect(runs.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at))).toEqual(
        [...pages].sort((a, b) => a - b),
      );
      expect(runs.every(({ count }) => count <= limit)).toBe(true);
      expect(set.size).toBe(pages.length);
    }),
  );
});
