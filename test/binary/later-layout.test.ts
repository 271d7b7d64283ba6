import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandTable } from '../../src/commands/command-table.ts';
import { newPostgresKey } from '../../src/replication/postgres/postgres-key.ts';
import { spoolLayout, usageLayout } from '../../src/storage/lmdb/layout.ts';
import { openLmdb, openRecords } from '../../src/storage/lmdb/lmdb.ts';
import { openSpoolStore } from '../../src/storage/lmdb/usage.ts';
import { freshDirectory, prepare } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';

/** Every command of this version refuses data of a later version, and changes nothing. */

const commands = Object.values(commandTable).flatMap((entry) => [...entry.commands]);

/** Returns the names of the commands that have the given option. */
const namesWith = (flag: string) =>
  commands.filter(({ options }) => options.some(({ name }) => name === flag)).map(({ name }) => name);

const nowhere = ['--postgres', 'postgres://flagmeter@127.0.0.1:1/flagmeter'];

/** Arguments of each command that uses a data directory, in addition to `--data`. */
const onData: Readonly<Record<string, readonly string[]>> = {
  serve: freePorts,
  init: ['--admin-email', 'a@example.com'],
  'admin reset-password': ['--email', 'bench@localhost'],
  'signing-keys rotate': [],
  verify: [],
  backup: ['--to', 'file'],
  compact: [],
  'postgres adopt': [...nowhere, '--without-key-file'],
};

/** Commands that create their stores. */
const onNew = ['bench', 'restore'];

/** Commands that open no store. */
const onNone = ['support'];

const words = (name: string) => name.split(' ');

test('every command with --data is in this test', () => {
  expect([...Object.keys(onData), ...onNew, ...onNone].sort()).toEqual(namesWith('data').sort());
});

describe.each(['accounts', 'usage', 'spool'] as const)('a later layout of the store %s', (store) => {
  let data: string;
  beforeAll(async () => {
    data = join(freshDirectory(), 'data');
    await prepare(data);
    await openSpoolStore(data).lmdb.close();
    const lmdb = openLmdb(join(data, store));
    openRecords<number>(lmdb, 'numbers').putSync('layout', 99);
    await lmdb.close();
  });

  const variants: [string, readonly string[]][] = [
    ...Object.entries(onData),
    ['serve', ['--check', ...freePorts]],
    ['postgres adopt', [...nowhere, '--from-replica']],
    ['postgres adopt', ['--from-replica', '--dry-run']],
  ];

  test.each(variants)('%s %j refuses a store of a later layout and leaves it unchanged', async (name, args) => {
    const copy = join(freshDirectory(), 'data');
    cpSync(data, copy, { recursive: true });
    const { code, stdout, stderr } = await runBinary([...words(name), '--data', copy, ...args]);
    expect(`${stdout}${stderr}`).toContain(
      `a later version of flagmeter wrote its ${store}, in layout 99, and this version supports layouts up to`,
    );
    expect(code).toBe(1);
    for (const each of ['accounts', 'usage', 'spool'])
      expect(readFileSync(join(copy, each, 'data.mdb')).equals(readFileSync(join(data, each, 'data.mdb')))).toBe(true);
  });
});

function keyFile(): string {
  const file = join(freshDirectory(), 'key');
  writeFileSync(file, newPostgresKey(), { mode: 0o600 });
  return file;
}

test('layout 99 of these tests does not mean that a store has a journal in use', () => {
  expect([usageLayout.journalled, spoolLayout.journalled]).not.toContain(99);
});

needing('postgresql').describe('a later layout of PostgreSQL', () => {
  let postgres: Postgres;
  let url: string;
  let node: string;
  beforeAll(async () => {
    postgres = await Postgres.start();
    url = await postgres.database();
    await preparePostgres(url);
    node = join(freshDirectory(), 'node');
    await prepare(node);
    await postgres.query('UPDATE fm_engine SET layout = 99, oldest_layout = 99', [], url);
  });
  afterAll(() => postgres.close());

  /** Arguments of each command that connects to PostgreSQL, in addition to `--postgres`. */
  const onPostgres: Readonly<Record<string, () => readonly string[]>> = {
    serve: () => ['--data', join(freshDirectory(), 'new'), ...freePorts],
    'admin reset-password': () => ['--email', 'ada@example.com'],
    'signing-keys rotate': () => [],
    'postgres init': () => ['--admin-email', 'a@example.com', '--without-key-file'],
    'postgres status': () => [],
    'postgres migrate': () => [],
    'postgres encrypt': () => ['--postgres-key-file', keyFile()],
    'postgres forget-node': () => ['node1', '--yes'],
    'postgres adopt': () => ['--data', node, '--without-key-file'],
  };

  test('every command with --postgres is in this test', () => {
    expect(Object.keys(onPostgres).sort()).toEqual(namesWith('postgres').sort());
  });

  test.each([...Object.keys(onPostgres), 'serve --check'])('%s refuses a later PostgreSQL layout', async (name) => {
    const [command, ...more] = name.split(' --');
    const args = onPostgres[command!]!();
    const flags = more.map((flag) => `--${flag}`);
    const ended = await runBinary([...words(command!), '--postgres', url, ...args, ...flags]);
    expect(`${ended.stdout}${ended.stderr}`).toMatch(/layout 99/);
    expect(ended.code).toBe(1);
  });

  afterAll(() => rmSync(node, { recursive: true, force: true }));
});
