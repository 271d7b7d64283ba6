import { beforeEach, expect } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { postgresLayout } from '../../src/replication/postgres/schema.ts';
import { testContext } from '../cli/fixture.ts';
import { needing } from '../support/needing.ts';
import { primaryAndStandby } from '../support/postgres-pair.ts';
import { runCommand } from '../support/run-command.ts';
import { runPostgres } from './postgres-fixture.ts';
import { statusDatabases, through } from './postgres-nodes.ts';

const { describe, it } = needing('postgresql');

const { init, run, query, status, node, current } = statusDatabases();

describe('flagmeter postgres status', () => {
  it('postgres status shows a new database', async () => {
    await init();
    const { engine, server, host, heads, nodes, warnings } = await status();
    expect(engine).toMatchObject({ layout: postgresLayout, oldestLayout: postgresLayout, encrypted: true });
    expect(server).toMatchObject({ major: 15, fsync: 'on', missingRights: [] });
    expect(host).toBe(`127.0.0.1:${current().postgres.port}`);
    expect(heads).toEqual({ control: 1, data: 0 });
    expect(nodes).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('PostgreSQL has no standby')]);
    const { out } = await run('status');
    expect(out).toContain('No node has joined yet');
    expect(out).toMatch(/^ {2}Database +[0-9a-f]+, layout \d+, /m);
    expect(out).toMatch(/^ {2}Accounts +version 1$/m);
    expect(out).toMatch(/^Warning: PostgreSQL has no standby/m);
  });

  it('postgres status shows nodes, their unshipped data, and rejected rows', async () => {
    await init();
    await node({ name: 'north', spool: 3 * 1024 * 1024, through: through + 1000 });
    await node({ name: 'south', silent: 60 });
    await node({ name: 'west', silent: 60, state: 'done' });
    await node({ name: 'east', skew: -7000 });
    await query(`UPDATE fm_head SET position = 40 WHERE log = 'data'`);
    await query(`UPDATE fm_node SET applied = 30, control = 1 WHERE name = 'north'`);
    await query(
      `INSERT INTO fm_refused (stream, seq, place, reason, "row") VALUES ('s', 3, 'counts', 'no number', '[]')`,
    );
    await query(`INSERT INTO fm_entry (position, id, kind) VALUES (31, 1, 'delta'), (41, 1, 'delta')`);
    const { nodes, streams, refused, warnings } = await status();
    expect(nodes.map(({ name, state, behind, spoolBytes }) => [name, state, behind, spoolBytes])).toEqual([
      ['east', 'up', 40, 0],
      ['north', 'up', 10, 3 * 1024 * 1024],
      ['south', 'silent', 40, 0],
      ['west', 'done', 40, 0],
    ]);
    expect(nodes[1]).toMatchObject({ accountsBehind: 0, unshippedSince: new Date(through).toISOString() });
    expect(streams).toMatchObject({ done: 1, forgotten: 0, open: { length: 3 } });
    expect(refused).toMatchObject({ rows: 1, latest: [{ place: 'counts', reason: 'no number' }] });
    expect(warnings).toEqual([
      expect.stringContaining('PostgreSQL has no standby'),
      expect.stringContaining("clock of node east is 7.0 s behind PostgreSQL's"),
      expect.stringContaining('Reports of node east are not complete: it has not applied 40 entries'),
      expect.stringContaining('until 2026-01-01T00:00:00.000Z: node east has not shipped its later counts'),
      expect.stringContaining('until 2026-01-01T00:00:01.000Z: node north has not shipped its later counts'),
      expect.stringContaining('flagmeter postgres forget-node south'),
    ]);
    const { out } = await run('status');
    expect(out).toMatch(/^north +up .* 10 +3\.0 MiB +2026-01-01 00:00:00 UTC +1\.2\.3 +directory-north$/m);
    expect(out).toMatch(/^ {2}Complete +reports, until 2026-01-01 00:00:00 UTC, except on east$/m);
    expect(out).toContain('Rejected: 1 rows of deltas');
  });

  it('postgres status shows the length of the log, and its trimmed part', async () => {
    await init();
    await query(`UPDATE fm_head SET position = 40 WHERE log = 'data'`);
    const entry = (position: number, body: string | null, at: string) =>
      query(`INSERT INTO fm_entry (position, id, at, kind, body) VALUES ($1, 1, $2, 'delta', $3)`, [
        ...[position, at, body],
      ]);
    await entry(38, null, '2026-01-01 00:00:00Z');
    await entry(39, 'x'.repeat(1024), '2026-01-01 01:00:00Z');
    await entry(40, 'x'.repeat(1024), '2026-01-01 02:00:00Z');
    const { out } = await run('status');
    expect(out).toMatch(/^ {2}Log +position 40; 2 entries of 2\.0 KiB, the oldest from 2026-01-01 01:00:00 UTC$/m);
    expect(out).toMatch(/^ {2}Trimmed +1 entries to their ids; 37 removed$/m);
    const { log, warnings } = await status();
    expect(log).toMatchObject({ entries: 2, bytes: 2048, first: 39, ids: 1 });
    expect(warnings.join()).not.toContain('not trimmed');
    await query(
      `INSERT INTO fm_snapshot (snapshot, position, id, state, directory, at, bytes) VALUES ('s', 39, 1, 'whole', '', '2026-01-01 01:30:00Z', 1)`,
    );
    expect((await status()).warnings.join()).toContain('The log is not trimmed: entry 39 of 2026-01-01T01:00:00');
  });

  it('postgres status reports a missing privilege, and a database that is not initialised', async () => {
    await current()
      .postgres.query('CREATE ROLE reader LOGIN')
      .catch(() => {});
    await expect(status()).rejects.toThrow('run flagmeter postgres init first');
    await init();
    const asReader = current().url.replace('postgres@', 'reader@');
    await expect(runPostgres(['status', '--postgres', asReader])).rejects.toThrow('The role lacks a right');
    await query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader');
    const { warnings } = JSON.parse((await runPostgres(['status', '--postgres', asReader, '--json'])).out);
    expect(warnings.join()).toContain('The role reader lacks rights on fm_change (INSERT, UPDATE, DELETE), fm_daily');
  });

  it('postgres status reports whether a standby confirms commits', async () => {
    const pair = await primaryAndStandby();
    try {
      const both = await pair.database();
      await init(both);
      const warned = async () => JSON.parse((await runPostgres(['status', '--postgres', both, '--json'])).out).warnings;
      expect(await warned()).toEqual([]);
      await pair.standby.kill();
      await expect
        .poll(warned)
        .toEqual([expect.stringContaining('are connected: commits and changes wait for more standbys')]);
    } finally {
      await pair.close();
    }
  });
});

it('postgres migrate reports that no change is necessary', async () => {
  await expect(run('migrate')).rejects.toThrow('run flagmeter postgres init first');
  await init();
  expect((await run('migrate')).out).toContain(`PostgreSQL already has layout ${postgresLayout}`);
  expect(JSON.parse((await run('migrate', '--json')).out)).toEqual({ from: postgresLayout, to: postgresLayout });
  await query('UPDATE fm_engine SET layout = 9, oldest_layout = 9');
  await expect(run('migrate')).rejects.toThrow('update flagmeter on this node');
});

describe('flagmeter postgres forget-node', () => {
  beforeEach(() => init());

  it('postgres forget-node prints the unshipped data, and usage reports no longer wait for the node', async () => {
    await node({ name: 'lost', silent: 601, spool: 2048 });
    const { out, err } = await run('forget-node', 'lost', '--yes');
    expect(out).toBe('Node lost is forgotten.\n');
    expect(err).toContain('Reports have the data that the node accepted before 2026-01-01 00:00:00 UTC');
    expect(err).toContain('Its spool held 2.0 KiB then, the oldest of it from 2026-01-01 00:00:00 UTC.');
    const { nodes, streams } = await status();
    expect(nodes).toMatchObject([{ name: 'lost', state: 'forgotten', shippedUntil: null }]);
    expect(streams).toMatchObject({ forgotten: 1, open: [] });
    await expect(run('forget-node', 'lost', '--yes')).rejects.toThrow('is already forgotten');
  });

  it('postgres forget-node reports that a deregistered node has shipped everything', async () => {
    await node({ name: 'gone', silent: 601, state: 'done' });
    const { err, out } = await run('forget-node', 'directory-gone', '--yes', '--json');
    expect(err).toContain('It has shipped all of its data');
    expect(JSON.parse(out)).toMatchObject({ directory: 'directory-gone', name: 'gone', streams: [] });
  });

  it('postgres forget-node refuses a node that is unknown, might be running, or shares its name', async () => {
    await node({ name: 'alive' });
    await node({ name: 'quiet', silent: 590 });
    await node({ name: 'twin', directory: 'a', silent: 601 });
    await node({ name: 'twin', directory: 'b', silent: 601 });
    for (const name of ['alive', 'quiet'])
      await expect(run('forget-node', name, '--yes')).rejects.toThrow(/might be running.*--force/);
    await expect(run('forget-node', 'none', '--yes')).rejects.toThrow('No node none found');
    await expect(run('forget-node', 'twin', '--yes')).rejects.toThrow('identify one by its directory, a or b');
    expect((await status()).streams.open).toHaveLength(4);
    await run('forget-node', 'a', '--yes');
    expect((await status()).streams.open).toHaveLength(3);
    await run('forget-node', 'quiet', '--yes', '--force');
    expect((await status()).streams.open).toHaveLength(2);
  });

  it('postgres forget-node for a running node closes only the streams of other processes of the node', async () => {
    await node({ name: 'alive', spool: 2048 });
    await query(`INSERT INTO fm_stream (stream, directory, seq, through) VALUES ('other', 'directory-alive', 1, 0)`);
    expect((await status()).warnings).toContainEqual(
      expect.stringMatching(/^Reports are not complete: a stream of another process of node alive/),
    );
    const { err, out } = await run('forget-node', 'alive', '--yes');
    expect(err).toContain('It is running and continues. Only one stream of its other processes');
    expect(out).toBe('Reports no longer wait for one stream of node alive.\n');
    const { nodes, streams } = await status();
    expect(nodes).toMatchObject([{ name: 'alive', state: 'up', refuses: null }]);
    expect(streams.open).toMatchObject([{ stream: 'stream-directory-alive' }]);
    await expect(run('forget-node', 'alive', '--yes')).rejects.toThrow(/might be running.*--force/);
  });

  it('postgres forget-node asks for confirmation', async () => {
    await node({ name: 'lost', silent: 601 });
    await expect(run('forget-node', 'lost')).rejects.toThrow(UsageError);
    const asked: string[] = [];
    const answering = (answer: string) => {
      const context = testContext({ answers: [answer] });
      const argv = ['postgres', 'forget-node', 'lost', '--postgres', current().url];
      return runCommand(argv, context).finally(() => asked.push(...context.questions));
    };
    await expect(answering('no')).rejects.toThrow('Nothing was changed');
    expect((await status()).streams.open).toHaveLength(1);
    expect(await answering('y')).toBe(0);
    expect((await status()).streams.open).toEqual([]);
    expect(asked).toEqual(Array(2).fill('Forget node lost? [y/N] '));
  });
});
