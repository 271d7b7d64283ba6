import { cpSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { loggedMint } from '../../src/replication/entry.ts';
import { makeSnapshot, trimLogs } from '../../src/replication/log-upkeep.ts';
import { readPostgres } from '../../src/replication/postgres/postgres-report.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { newInstanceId } from '../../src/storage/lmdb/instances.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import {
  closeStreams,
  copyDatabase,
  ended,
  expectCounts,
  kill,
  logged,
  newDatabase,
  postgres,
  restart,
  start,
  startPostgres,
} from './nodes.ts';
import { connect } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

describe('a PostgreSQL that reverted to an earlier state', () => {
  it('a reverted PostgreSQL receives later deltas again, including deltas of idle nodes and of earlier processes', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    one.count('f', 1);
    await expectCounts(two, { f: 1 });
    const goBack = await copyDatabase(url);
    one.count('f', 10);
    two.count('g', 100);
    await expectCounts(one, { f: 11, g: 100 });
    await expectCounts(two, { f: 11, g: 100 });
    const again = await restart(url, one);
    await expectCounts(again, { f: 11, g: 100 });
    await goBack();
    await again.until(({ status }) => status.rebases > 0);
    // A report during this time is complete or refused.
    const isReported = await again.node.freshen().then(
      () => true,
      () => false,
    );
    if (isReported) expect(again.counts()).toEqual({ f: 11, g: 100 });
    await expectCounts(again, { f: 11, g: 100 });
    await expectCounts(two, { f: 11, g: 100 });
    expect(logged(again, 'warn')).toContain('PostgreSQL reverted to an earlier state: shipping deltas again');
    expect(logged(two, 'warn')).toContain('reloading the replica');
  });

  it('a node ships nothing to a PostgreSQL that lacks earlier deltas until the streams of the node are closed', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    const goBack = await copyDatabase(url);
    one.count('lost', 1);
    one.meet('lost', 7);
    await expectCounts(one, { lost: 1 });
    await one.node.freshen(); // Stores in the spool which deltas PostgreSQL has.
    one.forgetAcknowledged();
    await goBack();
    one.count('f', 10);
    one.count('lost', 100);
    const { trouble, refuses } = await one.until((told) => told.trouble?.includes('is older') === true);
    expect([trouble, refuses]).toEqual(['PostgreSQL is older than what this node keeps', undefined]);
    const session = connect(url);
    onTestFinished(() => session.close());
    const held = async () => {
      const { nodes } = await readPostgres(session);
      return nodes.find(({ directory }) => directory === one.spool.directory)?.holds;
    };
    await expect.poll(held).toBe(true);
    await expect(one.node.freshen()).rejects.toMatchObject({ code: 'postgres_unavailable' });
    expect(logged(one, 'error')).toEqual([expect.stringContaining('adopt --from-replica')]);
    await kill(url, one);
    await closeStreams(url, one);
    const again = await start(url, { data: one.data });
    again.meet('f', 7);
    for (const node of [again, two]) await expectCounts(node, { f: 10, lost: 100 });
    await expect.poll(() => [again.users(), two.users()]).toEqual([1, 1]);
  });
});

describe('a replica', () => {
  it('a replica loads a snapshot if the log no longer has the entries that the replica needs', async () => {
    const url = await newDatabase();
    const one = await start(url);
    for (let index = 0; index < 20; index += 1) one.count(`f${index}`, index + 1);
    const all = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, index + 1]));
    await expectCounts(one, all);
    const two = await start(url, { snapshotBytes: 0 });
    const whole = () => postgres.query(`SELECT 1 FROM fm_snapshot WHERE state = 'whole'`, [], url);
    await expect.poll(whole).toHaveLength(1);
    const [{ position }] = (await postgres.query<{ position: string }>(
      'SELECT position FROM fm_snapshot',
      [],
      url,
    )) as [{ position: string }];
    await postgres.query('UPDATE fm_entry SET body = NULL WHERE position <= $1', [position], url);
    one.count('after');
    const three = await start(url);
    for (const node of [one, two, three]) await expectCounts(node, { ...all, after: 1 });
    expect(three.told?.status.rebases).toBe(1);
  });

  it.each([
    [
      'table of streams',
      'BEGIN; ALTER TABLE fm_stream RENAME TO kept; CREATE TABLE fm_stream (LIKE kept INCLUDING DEFAULTS); COMMIT',
      'BEGIN; DROP TABLE fm_stream; ALTER TABLE kept RENAME TO fm_stream; COMMIT',
      'the tables lack their keys',
    ],
    [
      'head of the log',
      `UPDATE fm_head SET log = 'kept' WHERE log = 'data'`,
      `UPDATE fm_head SET log = 'data' WHERE log = 'kept'`,
      '',
    ],
  ])('a replica has the right counts if a restore creates the %s last', async (_, take, give, why) => {
    const url = await newDatabase();
    const one = await start(url);
    one.count('f', 1);
    await expectCounts(one, { f: 1 });
    await postgres.query(take, [], url);
    one.count('g', 10);
    const { trouble } = await one.until((told) => told.trouble !== undefined);
    expect(trouble).toContain(why);
    await postgres.query(give, [], url);
    one.count('h', 100);
    await expectCounts(one, { f: 1, g: 10, h: 100 });
    await expectCounts(await start(url), { f: 1, g: 10, h: 100 });
  });

  it('a replica keeps its content if PostgreSQL has lost the log, and the node reports the loss', async () => {
    const url = await newDatabase();
    const one = await start(url);
    one.count('f', 1);
    await expectCounts(one, { f: 1 });
    await postgres.query('DELETE FROM fm_entry', [], url);
    one.count('g', 10);
    const { trouble } = await one.until((told) => told.trouble !== undefined);
    expect(trouble).toContain('PostgreSQL does not have its entry 1,');
    expect(one.counts()).toEqual({ f: 1 });
    expect(logged(one, 'warn')).not.toContain('reloading the replica');
  });

  it('a replica skips a gap in the log by loading a snapshot of a node that has all entries', async () => {
    const url = await newDatabase();
    const one = await start(url);
    for (const [index, feature] of ['f', 'g', 'h'].entries()) {
      one.count(feature, 10 ** index);
      await one.node.freshen();
    }
    await expectCounts(one, { f: 1, g: 10, h: 100 });
    await postgres.query('DELETE FROM fm_entry WHERE position = 2', [], url);
    const two = await start(url);
    const { trouble } = await two.until((told) => told.trouble !== undefined);
    expect(trouble).toContain('PostgreSQL does not have its entry 2,');
    const session = connect(url);
    onTestFinished(() => session.close());
    const log = createLog('error', () => {}, systemClock);
    const deps = { session, replica: one.replica, directory: 'one', log, leastBytes: 2 ** 26 };
    expect(await makeSnapshot(deps)).toBe(true);
    expect(await makeSnapshot(deps)).toBe(false);
    await expectCounts(two, { f: 1, g: 10, h: 100 });
  });
});

it('a forgotten person is removed from PostgreSQL an hour later, even if the log has not grown', async () => {
  const url = await newDatabase();
  const one = await start(url);
  const digest = Buffer.alloc(16, 5);
  const instanceId = newInstanceId(digest, (length) => new Uint8Array(length));
  const life = { expiresAt: Date.now() + 1e9, graceUntil: 0 };
  const profile = '{"identity":"ann@example.com"}';
  await one.node.mint(loggedMint({ application: 1, instanceId, high: 1, low: 2, profile, ...life }));
  await one.node.forget({ application: 1, environments: [1], digest: digest.toString('hex') });
  const session = connect(url);
  onTestFinished(() => session.close());
  const log = createLog('error', () => {}, systemClock);
  const deps = { session, replica: one.replica, directory: 'one', log, leastBytes: 2 ** 26 };
  const found = async () => {
    await trimLogs(session);
    const holds = `position(convert_to('ann@example.com', 'UTF8') IN body) > 0`;
    return postgres.query(`SELECT position FROM fm_entry WHERE ${holds}`, [], url);
  };
  expect(await makeSnapshot(deps)).toBe(false);
  expect(await found()).toHaveLength(1);
  await postgres.query(`UPDATE fm_entry SET at = at - interval '61 min'`, [], url);
  expect(await makeSnapshot(deps)).toBe(true);
  expect(await found()).toEqual([]);
  expect(await makeSnapshot(deps)).toBe(false);
});

describe('a process', () => {
  it('a process refuses to start on a copy of a directory that another process uses', async () => {
    const url = await newDatabase();
    const one = await start(url, { name: 'left' });
    one.count('f', 1);
    await expectCounts(one, { f: 1 });
    const data = temporaryDirectory();
    cpSync(one.data, data, { recursive: true });
    const copy = await start(url, { data, name: 'right' });
    expect(copy.told?.refusal).toContain('another process, node left,');
    expect(copy.told?.refusal).toContain(data);
    expect(logged(copy, 'warn')).toEqual([]);
    expect(await postgres.query('SELECT 1 FROM fm_stream', [], url)).toHaveLength(1);
  });

  it('reports identify a stopped node by its directory if other nodes have the same name', async () => {
    const url = await newDatabase();
    const stopped = [];
    for (const name of ['a', 'a', 'b', 'c']) stopped.push(await start(url, { name }));
    const [one, another, , alike] = stopped.map(({ spool }) => spool.directory);
    for (const node of stopped) {
      ended(node);
      expect(await node.stop()).toBe(true);
    }
    const running = await start(url, { name: 'c' });
    const { mayBeCounting } = await running.node.freshen();
    expect(new Set(mayBeCounting)).toEqual(new Set([`a (${one})`, `a (${another})`, 'b', `c (${alike})`]));
  });

  it('a deregistered node disappears from the list of nodes after a week', async () => {
    const url = await newDatabase();
    const session = connect(url);
    onTestFinished(() => session.close());
    const add = (directory: string, state: string, days: number) =>
      session.query({
        text: `INSERT INTO fm_node (directory, state, beat_at) VALUES ($1, $2, now() - $3 * interval '1 day')`,
        values: [directory, state, days],
      });
    await add('left', 'done', 8);
    await add('left lately', 'done', 6);
    await add('forgotten', 'forgotten', 8);
    await add('silent', 'up', 8);
    await add('not shipped', 'done', 8);
    await session.query({ text: `INSERT INTO fm_stream (stream, directory) VALUES ('open', 'not shipped')` });
    await trimLogs(session);
    const { rows } = await session.query({ text: 'SELECT directory FROM fm_node ORDER BY 1' });
    expect(rows.map(({ directory }) => directory)).toEqual(['left lately', 'not shipped', 'silent']);
  });

  it('a process refuses to start if its clock is wrong', async () => {
    const url = await newDatabase();
    const node = await start(url, { clockMs: 6000 });
    expect(node.told?.refusal).toMatch(/[56]\.\d s ahead of PostgreSQL's/);
    expect(await postgres.query('SELECT 1 FROM fm_node', [], url)).toEqual([]);
  });
});
