import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { checkDirectory } from '../../../src/storage/backup/check-directory.ts';
import { restore } from '../../../src/storage/backup/restore.ts';
import {
  accountsLayout,
  attachLaidOut,
  currentLayout,
  type Layout,
  openLaidOut,
  readLayout,
  usageLayout,
} from '../../../src/storage/lmdb/layout.ts';
import { type LmdbEnvironment, openLmdb, openRecords, openTable } from '../../../src/storage/lmdb/lmdb.ts';
import { testClock } from '../../accounts/fixture.ts';
import { emptyTables } from '../../fixtures/stores/empty-tables.ts';
import { readStore, refresh } from '../../fixtures/stores/fill.ts';
import { expectMore, urls } from '../../fixtures/stores/fill-more.ts';
import { fixtureNames, unpack } from '../../fixtures/stores/unpack.ts';
import { freshDirectory } from '../../support/binary.ts';
import { lasting } from '../../support/lasting.ts';
import { startLocal } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { backUp, steady } from '../backup/data-directory.ts';

const fixtures = fixtureNames();

describe('data directories of past layouts', () => {
  it('every past layout has a fixture', () => {
    const wanted = [accountsLayout, usageLayout].map(currentLayout);
    expect(fixtures.length).toBeGreaterThanOrEqual(Math.max(...wanted));
  });

  it('the latest fixture has records in every table of this version', async () => {
    const data = `${freshDirectory()}/data`;
    unpack(fixtures.at(-1)!, data);
    const hint = 'make a fixture that fills these tables: see src/storage/lmdb/README.md';
    expect(await emptyTables(data), hint).toEqual([]);
  });

  test.each(fixtures)('the fixture %s can be opened, and contains the recorded data', async (fixture) => {
    const data = `${freshDirectory()}/data`;
    const stored = unpack(fixture, data);
    const clock = testClock(stored.filledAt + 60_000);
    const service = await startLocal({ data, clock, credentials: stored.credentials, args: urls });
    const responses = await readStore(service.http, stored);
    for (const [path, answer] of Object.entries(stored.answers))
      expect(responses[path], path).toMatchObject(lasting(path, answer as object));
    expect(await refresh(service.http, stored)).toBe(200);
    await expectMore(service.http, stored);
    await service.stop();
    const usage = openLmdb(`${data}/usage`);
    expect(readLayout(usage)).toBe(currentLayout(usageLayout));
    await usage.close();
    const accounts = openLmdb(`${data}/accounts`);
    expect(readLayout(accounts)).toBe(currentLayout(accountsLayout));
    await accounts.close();
    const faults: string[] = [];
    await checkDirectory(data, steady, ({ isSound, words }) => isSound || faults.push(words));
    expect(faults).toEqual([]);
  });

  test.each(fixtures)('a backup of the fixture %s can be restored after its upgrade', async (fixture) => {
    const data = temporaryDirectory();
    const stored = unpack(fixture, data);
    const clock = testClock(stored.filledAt + 60_000);
    await openLaidOut(data, usageLayout).close();
    await backUp(data, `${data}/backup`);
    const target = temporaryDirectory();
    await restore(`${data}/backup`, target, steady);
    const service = await startLocal({ data: target, clock, credentials: stored.credentials, args: urls });
    const responses = await readStore(service.http, stored);
    for (const [path, answer] of Object.entries(stored.answers))
      expect(responses[path], path).toMatchObject(lasting(path, answer as object));
    await service.stop();
  });
});

/** Two possible future layouts: one renames the table of counts, and the next changes the form of their values. */
const later: Layout = {
  store: 'usage',
  steps: [
    (lmdb) => {
      const [before, after] = ['counts', 'cells'].map((name) => openTable(lmdb, name));
      for (const { key, value } of before!.getRange()) after!.putSync(Buffer.from(key), Buffer.from(value));
      before!.clearSync();
    },
    (lmdb) => {
      const cells = openTable(lmdb, 'cells');
      for (const { key, value } of [...cells.getRange()])
        cells.putSync(Buffer.from(key), Buffer.concat([Buffer.of(3), value]));
    },
  ],
};

const listCells = (lmdb: LmdbEnvironment, table: string) =>
  Array.from(openTable(lmdb, table).getRange(), ({ key, value }) => `${key.toString('hex')} ${value.toString('hex')}`);

describe('a store of an earlier layout', () => {
  it('an earlier layout is migrated step by step, and its original file is kept', async () => {
    const data = temporaryDirectory();
    unpack('layout-1', data);
    const before = readFileSync(`${data}/usage/data.mdb`);
    const first = openLmdb(`${data}/usage`);
    const counts = listCells(first, 'counts');
    await first.close();

    const lmdb = openLaidOut(data, later);
    expect(readLayout(lmdb)).toBe(3);
    expect(listCells(lmdb, 'counts')).toEqual([]);
    expect(listCells(lmdb, 'cells')).toEqual(counts.map((cell) => cell.replace(' ', ' 03')));
    await lmdb.close();
    expect(readFileSync(`${data}/usage/layout-1.mdb`).equals(before)).toBe(true);
    expect(readdirSync(`${data}/usage`).sort()).toEqual(['data.mdb', 'layout-1.mdb', 'lock.mdb']);

    const again = openLaidOut(data, later);
    expect(readLayout(again)).toBe(3);
    expect(listCells(again, 'cells')).toHaveLength(counts.length);
    await again.close();
  });

  it('a migration stops at the last completed step if a step fails, and continues from there', async () => {
    const data = temporaryDirectory();
    unpack('layout-1', data);
    const [first, second] = later.steps as [Layout['steps'][0], Layout['steps'][0]];
    const failing: Layout = {
      store: 'usage',
      steps: [
        first,
        (lmdb) => {
          second(lmdb);
          throw new Error('no power');
        },
      ],
    };
    expect(() => openLaidOut(data, failing)).toThrow('no power');
    const halfway = openLmdb(`${data}/usage`);
    expect(readLayout(halfway)).toBe(2);
    expect(listCells(halfway, 'cells').every((cell) => !cell.includes(' 03'))).toBe(true);
    await halfway.close();
    const lmdb = openLaidOut(data, later);
    expect(readLayout(lmdb)).toBe(3);
    expect(listCells(lmdb, 'cells').every((cell) => cell.includes(' 03'))).toBe(true);
    await lmdb.close();
  });

  it('a command that runs next to a service rejects an earlier layout until the service has migrated the store', async () => {
    const data = temporaryDirectory();
    unpack('layout-1', data);
    const next: Layout = { store: 'accounts', steps: [() => {}] };
    expect(() => attachLaidOut(data, next)).toThrow(
      `Cannot use ${data}: its accounts store has layout 1, and this version uses 2; start flagmeter serve`,
    );
    await openLaidOut(data, next).close();
    await attachLaidOut(data, next).close();
  });
});

describe.each([accountsLayout, usageLayout])('a later layout of $store', (layout) => {
  it('a store with a later layout is not changed, and the error names the store and its layout', async () => {
    const data = temporaryDirectory();
    unpack('layout-1', data);
    const lmdb = openLmdb(`${data}/${layout.store}`);
    await openRecords<number>(lmdb, 'numbers').put('layout', 7);
    await lmdb.close();
    const before = readFileSync(`${data}/${layout.store}/data.mdb`);
    for (const open of [openLaidOut, attachLaidOut]) {
      expect(() => open(data, layout)).toThrow(
        `Cannot use ${data}: a later version of flagmeter wrote its ${layout.store}, in layout 7, and this version supports layouts up to ${currentLayout(layout)}; start a version that supports it`,
      );
    }
    expect(readFileSync(`${data}/${layout.store}/data.mdb`).equals(before)).toBe(true);
  });
});

it('a new usage store has the layout of this program', async () => {
  const data = temporaryDirectory();
  const lmdb = openLaidOut(data, later);
  expect(readLayout(lmdb)).toBe(3);
  await lmdb.close();
});
