import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { Postgres } from '../../support/postgres.ts';
import { primaryAndStandby } from '../../support/postgres-pair.ts';

const { describe, it } = needing('postgresql');

describe('a PostgreSQL for tests', () => {
  const postgres = opened(() => Postgres.start());

  it('a PostgreSQL for tests provides fresh databases, and has fsync enabled', async () => {
    const urls = [await postgres.database(), await postgres.database()];
    expect(new Set(urls).size).toBe(2);
    await postgres.query('CREATE TABLE t (a int)', [], urls[0]);
    await expect(postgres.query('SELECT * FROM t', [], urls[1])).rejects.toThrow('does not exist');
    expect(await postgres.query('SHOW fsync')).toEqual([{ fsync: 'on' }]);
  });

  it('a PostgreSQL for tests restarts with its data after it was killed', async () => {
    const url = await postgres.database();
    await postgres.query('CREATE TABLE t AS SELECT 7 AS a', [], url);
    await postgres.kill();
    expect(postgres.processes()).toEqual([]);
    await expect(postgres.query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await postgres.start();
    expect(await postgres.query('SELECT a FROM t', [], url)).toEqual([{ a: 7 }]);
  });

  it('a PostgreSQL for tests sends nothing while it is paused', async () => {
    postgres.pause();
    const impatient = new pg.Client({ connectionString: postgres.url(), connectionTimeoutMillis: 100 });
    await expect(impatient.connect()).rejects.toThrow('timeout');
    const result = postgres.query('SELECT 1');
    postgres.resume();
    expect(await result).toHaveLength(1);
  });
});

it('a PostgreSQL for tests leaves no process or file behind if the process that started it is killed', async () => {
  const script = `
    const { Postgres } = await import(${JSON.stringify(resolve(import.meta.dirname, '../../support/postgres.ts'))});
    const server = await Postgres.start();
    server.pause();
    console.log(JSON.stringify([server.folder, server.processes()]));
    setInterval(() => {}, 1000);`;
  const bun = resolve(import.meta.dirname, '../../../node_modules/.bin/bun');
  const child = spawn(bun, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await new Promise<string>((hear) => child.stdout.once('data', (text) => hear(String(text))));
  const [folder, processes] = JSON.parse(said) as [string, number[]];
  expect(processes.length).toBeGreaterThan(3);
  child.kill('SIGKILL');
  await expect.poll(() => existsSync(folder)).toBe(false);
  // A finished process stays in the process table until init collects it.
  const left = () => processes.filter((id) => existsSync(`/proc/${id}`));
  await expect.poll(left).toEqual([]);
});

describe('a primary and its standby', () => {
  const pair = opened(primaryAndStandby);

  it('a primary and its standby lose no data in a failover to the standby and a second failover back', async () => {
    const database = new URL(await pair.primary.database()).pathname.slice(1);
    await pair.primary.query('CREATE TABLE t AS SELECT 1 AS a', [], pair.primary.url(database));
    for (const a of [2, 3]) {
      await pair.primary.kill();
      await pair.promote();
      await pair.primary.query('SELECT 1');
      await pair.beAlone();
      await pair.primary.query('INSERT INTO t VALUES ($1)', [a], pair.primary.url(database));
      await pair.rejoin();
      expect(await pair.standby.query('SELECT pg_is_in_recovery() AS it')).toEqual([{ it: true }]);
    }
    const rows = await pair.primary.query('SELECT a FROM t ORDER BY a', [], pair.primary.url(database));
    expect(rows).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
  });
});
