import { beforeEach, expect } from 'vitest';
import { checkPostgres } from '../../../src/replication/postgres/checks.ts';
import type { Connection } from '../../../src/replication/postgres/connection.ts';
import { readPostgres } from '../../../src/replication/postgres/postgres-report.ts';
import {
  createTables,
  type Migration,
  migrate,
  postgresLayout,
  tableNames,
} from '../../../src/replication/postgres/schema.ts';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { Postgres } from '../../support/postgres.ts';
import { connect } from './fixture.ts';

const { describe, it } = needing('postgresql');

const postgres = opened(() => Postgres.start());
let url: string;
beforeEach(async () => {
  url = await postgres.database();
});

const identity = { id: 'engine-1', secret: 'secret' };
const create = (connection: Connection) => connection.transaction((run) => createTables(run, identity));
const check = (connection: Connection, own?: number) => connection.transaction((run) => checkPostgres(run, own));

describe('the tables', () => {
  it('exactly one of several processes that create the tables at the same time succeeds', async () => {
    const results = await Promise.allSettled([connect(url), connect(url), connect(url)].map(create));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const made = await postgres.query<{ name: string; comment: string | null }>(
      `SELECT relname AS name, obj_description(oid) AS comment FROM pg_class WHERE relname LIKE 'fm%' AND relkind = 'r' ORDER BY 1`,
      [],
      url,
    );
    expect(made.map(({ name }) => name)).toEqual([...tableNames].sort());
    expect(made.filter(({ comment }) => comment === null)).toEqual([]);
    expect(await check(connect(url))).toEqual({ ...identity, layout: postgresLayout, oldestLayout: postgresLayout });
    expect(await postgres.query('SELECT * FROM fm_head ORDER BY log', [], url)).toEqual([
      { log: 'control', position: '0', id: '0' },
      { log: 'data', position: '0', id: '0' },
    ]);
  });

  it('the tables are in the first schema of the search path', async () => {
    await postgres.query('CREATE SCHEMA here', [], url);
    const inSchema = `${url}&options=-c%20search_path%3Dhere`;
    await create(connect(inSchema));
    await expect(check(connect(url))).rejects.toThrow('run flagmeter postgres init first');
    expect(await check(connect(inSchema))).toMatchObject(identity);
  });

  it('a role that may only read the tables is refused', async () => {
    await create(connect(url));
    await postgres.query('CREATE ROLE reader LOGIN');
    await postgres.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader', [], url);
    const reading = check(connect(url.replace('postgres@', 'reader@')));
    await expect(reading).rejects.toThrow(/role reader lacks rights on .*fm_head \(INSERT, UPDATE, DELETE\)/);
  });

  it('a database is refused if its table fm_engine is empty', async () => {
    const connection = connect(url);
    await create(connection);
    await connection.query({ text: 'DELETE FROM fm_engine' });
    for (const use of [check, migrate, readPostgres])
      await expect(use(connection)).rejects.toThrow('fm_engine is empty: restore');
  });

  it('a role without rights cannot create the tables', async () => {
    await postgres.query('CREATE ROLE guest LOGIN');
    await expect(create(connect(url.replace('postgres@', 'guest@')))).rejects.toMatchObject({ sqlstate: '42501' });
  });
});

describe('a layout', () => {
  const column: Migration = {
    layout: postgresLayout + 1,
    oldestLayout: postgresLayout,
    statements: [`ALTER TABLE fm_node ADD COLUMN zone text NOT NULL DEFAULT ''`],
  };
  const breaking: Migration = {
    layout: postgresLayout + 2,
    oldestLayout: postgresLayout + 2,
    statements: ['ALTER TABLE fm_gap DROP COLUMN reason'],
  };
  const next = postgresLayout + 1;

  it('the previous version can use a newer layout of the tables, unless the layout excludes that version', async () => {
    const connection = connect(url);
    await create(connection);
    await expect(check(connection, next)).rejects.toThrow('run flagmeter postgres migrate first');
    expect(await migrate(connection, [column], next)).toEqual({ from: postgresLayout, to: next });
    expect(await migrate(connection, [column], next)).toEqual({ from: next, to: next });
    expect(await check(connection)).toMatchObject({ layout: next });
    expect(await check(connection, next)).toMatchObject({ layout: next });
    expect(await migrate(connection, [column, breaking], next + 1)).toEqual({ from: next, to: next + 1 });
    await expect(check(connection)).rejects.toThrow('update flagmeter on this node');
    await expect(migrate(connection)).rejects.toThrow('use a newer flagmeter');
  });

  it('a migration is refused while a node that the new layout excludes is running', async () => {
    const connection = connect(url);
    await create(connection);
    const node = {
      text: `INSERT INTO fm_node (directory, name, version, layout) VALUES ('d', 'north', '1.0', $1)`,
      values: [postgresLayout],
    };
    await connection.query(node);
    await expect(migrate(connection, [column, breaking], next + 1)).rejects.toThrow(
      'north (flagmeter 1.0); stop them first',
    );
    expect(await check(connection)).toMatchObject({ layout: postgresLayout });
    await connection.query({ text: `UPDATE fm_node SET beat_at = now() - interval '1 minute'` });
    expect(await migrate(connection, [column, breaking], next + 1)).toMatchObject({ to: next + 1 });
  });

  it('a failed step of a migration leaves the layout of the tables unchanged', async () => {
    const connection = connect(url);
    await create(connection);
    const failing = { ...breaking, statements: ['ALTER TABLE fm_gap DROP COLUMN none'] };
    await expect(migrate(connection, [column, failing], next + 1)).rejects.toMatchObject({ sqlstate: '42703' });
    expect(await check(connection)).toMatchObject({ layout: postgresLayout });
  });

  it('an empty database cannot be migrated', async () => {
    await expect(migrate(connect(url))).rejects.toThrow('run flagmeter postgres init first');
  });
});
