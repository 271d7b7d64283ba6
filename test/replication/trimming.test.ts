import { beforeEach, expect, onTestFinished } from 'vitest';
import { makeSnapshot, trimLogs } from '../../src/replication/log-upkeep.ts';
import type { Connection, PostgresSession } from '../../src/replication/postgres/connection.ts';
import { readPostgres } from '../../src/replication/postgres/postgres-report.ts';
import type { Statement } from '../../src/replication/postgres/session.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { needing } from '../support/needing.ts';
import { expectCounts, logged, newDatabase, postgres, start, startPostgres } from './nodes.ts';
import { connect, type TestNode } from './test-node.ts';

startPostgres();

const { describe, test } = needing('postgresql');

let url: string;
let session: Connection;

beforeEach(async () => {
  url = await newDatabase();
  session = connect(url);
  onTestFinished(() => session.close());
});

const sql = (text: string) => postgres.query<Record<string, unknown>>(text, [], url);

/** Makes a snapshot of a node, regardless of the size of the log. */
function snapshotNode(node: TestNode, by: PostgresSession = session): Promise<boolean> {
  const log = createLog('error', () => {}, systemClock);
  const { replica, data: directory } = node;
  return makeSnapshot({ session: by, replica, directory, log, leastBytes: 0 });
}

/** Counts a check. Returns the last position of the log once the node has the counts in its reports. */
async function countOne(node: TestNode, feature: string): Promise<number> {
  node.count(feature, 1);
  await expect
    .poll(async () => {
      await node.node.freshen();
      return node.counts();
    })
    .toMatchObject({ [feature]: 1 });
  return node.replica.applied.position;
}

/** Reads the positions in the log, and the positions whose entries still have bodies. */
async function readLog(): Promise<{ ids: number[]; bodies: number[] }> {
  const rows = await sql('SELECT position::int, body IS NOT NULL AS body FROM fm_entry ORDER BY position');
  const positions = (of: typeof rows) => of.map(({ position }) => position as number);
  return { ids: positions(rows), bodies: positions(rows.filter(({ body }) => body)) };
}

const age = (interval: string, where: string) =>
  sql(`UPDATE fm_entry SET at = now() - interval '${interval}' WHERE ${where}`);

const between = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe('trimming the log', () => {
  test('trimming the log removes no entry before a complete snapshot covers it, regardless of age', async () => {
    const one = await start(url);
    const end = await countOne(one, 'f');
    await age('2 days', 'true');
    await sql(
      `INSERT INTO fm_snapshot (snapshot, position, id, state, directory, at, bytes) VALUES ('half', ${end}, 1, 'building', '', now(), 0)`,
    );
    await trimLogs(session);
    expect((await readLog()).bodies).toEqual(expect.arrayContaining(between(1, end)));
  });

  test('trimming removes bodies older than an hour if a snapshot covers them, and joining nodes have all counts', async () => {
    const one = await start(url);
    const old = await countOne(one, 'f');
    const young = await countOne(one, 'g');
    expect(await snapshotNode(one)).toBe(true);
    const later = await countOne(one, 'h');
    await age('61 min', `position <= ${old} OR position > ${young}`);
    await age('59 min', `position > ${old} AND position <= ${young}`);
    await trimLogs(session);
    const { ids, bodies } = await readLog();
    expect(ids).toEqual(expect.arrayContaining(between(1, later)));
    expect(bodies.filter((position) => position <= later)).toEqual(between(old + 1, later));
    await age('61 min', 'true');
    await trimLogs(session);
    expect((await readLog()).bodies[0]).toBe(young + 1);
    await expectCounts(await start(url), { f: 1, g: 1, h: 1 });
  });

  test('trimming the log removes the ids of entries after a day, unless the entries are newer than the snapshot', async () => {
    const one = await start(url);
    const old = await countOne(one, 'f');
    const covered = await countOne(one, 'g');
    expect(await snapshotNode(one)).toBe(true);
    const later = await countOne(one, 'h');
    await age('23 hours', `position <= ${later}`);
    await trimLogs(session);
    expect((await readLog()).ids).toEqual(expect.arrayContaining(between(1, later)));
    await age('25 hours', `position <= ${old} OR position > ${covered}`);
    await trimLogs(session);
    expect((await readLog()).ids[0]).toBe(old + 1);
    await age('25 hours', 'true');
    await trimLogs(session);
    // The id of the last covered entry identifies this log.
    expect((await readLog()).ids[0]).toBe(covered);
    await expectCounts(await start(url), { f: 1, g: 1, h: 1 });
  });
});

test('nodes trim old entries and report their number, and the postgres status command shows the remaining log', async () => {
  const one = await start(url);
  const old = await countOne(one, 'f');
  expect(await snapshotNode(one)).toBe(true);
  const later = await countOne(one, 'g');
  await age('61 min', `position <= ${old}`);
  const before = await readPostgres(session);
  expect(before.log).toMatchObject({ first: 1, ids: 0 });
  const two = await start(url);
  const trimmed = () => [one, two].filter(({ told }) => told!.status.log.trimmed > 0);
  await expect.poll(trimmed).toHaveLength(1); // Each node runs its first round soon after its startup.
  const [node] = trimmed();
  expect(node!.told!.status.log.trimmed).toBe(old);
  expect(node!.lines.find(({ msg }) => msg === 'trimmed the log')).toMatchObject({ trimmed: old });
  const { log, heads } = await readPostgres(session);
  expect(log).toMatchObject({ first: old + 1, ids: old });
  expect(node!.told!.status.log).toMatchObject({ bytes: log.bytes, oldest: log.since!.getTime() });
  expect(log.since!.getTime()).toBeGreaterThan(before.log.since!.getTime());
  expect(log.entries).toBe(heads.data - old);
  expect(heads.data).toBeGreaterThanOrEqual(later);
  await expectCounts(two, { f: 1, g: 1 });
});

test('the newest snapshot is kept, and all other snapshots are removed after an hour, even if unfinished', async () => {
  const one = await start(url);
  await countOne(one, 'f');
  expect(await snapshotNode(one)).toBe(true);
  await sql(
    `INSERT INTO fm_snapshot (snapshot, position, id, state, directory, at, bytes) VALUES ('half', 1, 1, 'building', '', now() - interval '16 s', 0)`,
  );
  await sql(`INSERT INTO fm_snapshot_part (snapshot, part, body) VALUES ('half', 0, 'x')`);
  await countOne(one, 'g');
  await sql('UPDATE fm_snapshot SET bytes = 0'); // The next snapshot is due once the log has grown by this size.
  expect(await snapshotNode(one)).toBe(true);
  await trimLogs(session);
  expect(await sql('SELECT 1 FROM fm_snapshot')).toHaveLength(3);
  await sql(`UPDATE fm_snapshot SET at = at - interval '61 min'`);
  await trimLogs(session);
  const newest = await sql('SELECT position::int, state FROM fm_snapshot');
  expect(newest).toMatchObject([{ state: 'whole' }]);
  expect(newest[0]!['position']).toBeGreaterThan(1);
  expect(await sql('SELECT 1 FROM fm_snapshot_part')).toHaveLength(1);
  await expectCounts(await start(url), { f: 1, g: 1 });
});

test('a damaged snapshot is read again at intervals, and a newer snapshot is read immediately', async () => {
  const one = await start(url);
  await countOne(one, 'f');
  expect(await snapshotNode(one)).toBe(true);
  await age('2 days', 'true');
  await trimLogs(session);
  await sql(`UPDATE fm_snapshot_part SET body = 'damaged'`);
  const two = await start(url);
  const loads = () => two.lines.filter(({ msg }) => msg === 'reloading the replica').length;
  await expect.poll(loads).toBe(1);
  for (let beats = 0, last: unknown; beats < 4; ) {
    const [row] = await sql(`SELECT beat_at::text FROM fm_node WHERE directory = '${two.spool.directory}'`);
    if (row!['beat_at'] !== last) beats += 1;
    last = row!['beat_at'];
    await two.node.freshen().catch(() => {});
  }
  expect(loads()).toBe(1);
  expect(logged(two, 'error')).toEqual([expect.stringMatching(/^applying .* failed/)]);
  await countOne(one, 'g');
  await sql('UPDATE fm_snapshot SET bytes = 0');
  expect(await snapshotNode(one)).toBe(true);
  await expectCounts(two, { f: 1, g: 1 });
  expect(loads()).toBe(2);
});

test('refused rows are kept for a week', async () => {
  const put = (days: number) =>
    sql(`INSERT INTO fm_refused (stream, seq, place, reason, "row", at)
         SELECT 's', n, 'counts', 'r', 'row', now() - interval '${days} days' FROM generate_series(1, 1500) AS n`);
  await put(8);
  await put(6);
  await trimLogs(session);
  expect(await sql('SELECT count(*)::int AS rows FROM fm_refused')).toEqual([{ rows: 1500 }]);
});

describe('a snapshot of the log', () => {
  /** Returns a session that runs an action before a named statement. */
  const intercepting = (name: string, action: () => Promise<unknown>): PostgresSession => ({
    query: async (statement: Statement) => {
      if (statement.name === name) await action();
      return session.query(statement) as never;
    },
    transaction: (work) => session.transaction(work),
  });

  async function twoNodes(): Promise<[TestNode, TestNode]> {
    const one = await start(url);
    const two = await start(url);
    await countOne(one, 'f');
    await expectCounts(two, { f: 1 });
    return [one, two];
  }

  const ageLease = (seconds: number) =>
    sql(`UPDATE fm_snapshot SET at = at - interval '${seconds} s' WHERE state = 'building'`);
  const states = async () => (await sql('SELECT state FROM fm_snapshot ORDER BY state')).map(({ state }) => state);

  test('two nodes do not make a snapshot at the same time', async () => {
    const [one, two] = await twoNodes();
    const others: boolean[] = [];
    const asking = intercepting('fm-snapshot-whole', async () => others.push(await snapshotNode(two)));
    expect(await snapshotNode(one, asking)).toBe(true);
    expect(others).toEqual([false]);
    expect(await states()).toEqual(['whole']);
  });

  test('each uploaded part of a snapshot renews the lease of the node that makes the snapshot', async () => {
    const [one, two] = await twoNodes();
    const others: boolean[] = [];
    const slow = intercepting('fm-snapshot-whole', async () => {
      await ageLease(14);
      others.push(await snapshotNode(two));
    });
    const slower: PostgresSession = {
      ...slow,
      query: async (statement: Statement) => {
        if (statement.name === 'fm-snapshot-put') await ageLease(14);
        return slow.query(statement) as never;
      },
    };
    expect(await snapshotNode(one, slower)).toBe(true);
    expect(others).toEqual([false]);
  });

  test('another node makes the snapshot 15 seconds after the first node has died', async () => {
    const [one, two] = await twoNodes();
    const dying = intercepting('fm-snapshot-put', () => Promise.reject(new Error('killed')));
    await expect(snapshotNode(one, dying)).rejects.toThrow('killed');
    await ageLease(13);
    expect(await snapshotNode(two)).toBe(false);
    await ageLease(3);
    expect(await snapshotNode(two)).toBe(true);
    expect(await states()).toEqual(['building', 'whole']);
    await expectCounts(await start(url), { f: 1 });
  });
});
