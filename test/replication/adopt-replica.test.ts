import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { newCopy } from '../../src/replication/accounts/copy.ts';
import { type AdoptionResult, adoptReplica } from '../../src/replication/adoption/adopt.ts';
import { SetAside, type Source, setAsideIn, sourcesIn } from '../../src/replication/adoption/set-aside.ts';
import type { Connection, PostgresSession } from '../../src/replication/postgres/connection.ts';
import { Spool } from '../../src/replication/spool.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { copyStateWriter, openAccountTables, readCopyState } from '../../src/storage/lmdb/accounts.ts';
import { openReplicaStore } from '../../src/storage/lmdb/usage.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { failing } from './failing-connection.ts';
import {
  copyDatabase,
  ended,
  expectCounts,
  horizon,
  logged,
  lose,
  newDatabase,
  postgres,
  start,
  startPostgres,
} from './nodes.ts';
import { connect, initPostgres, type TestNode } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

const change = '77';

async function nodeDirectory(url: string, version = 5): Promise<string> {
  const [row] = await postgres.query<{ id: string }>('SELECT id FROM fm_engine', [], url);
  const data = temporaryDirectory();
  const spool = new Spool(data, () => randomBytes(8).toString('hex'));
  spool.bindTo(row!.id);
  await spool.close();
  const accounts = openAccountTables(data);
  accounts.lmdb.transactionSync(() => {
    copyStateWriter(accounts.lmdb)(newCopy(row!.id, { position: version, id: change }));
    accounts.numbers.putSync('application', 8);
  });
  await accounts.lmdb.close();
  return data;
}

async function startNode(url: string, name: string, version?: number): Promise<TestNode> {
  const data = await nodeDirectory(url, version);
  return restartNode(url, data, { name });
}

function restartNode(url: string, data: string, { name = 'node', free = () => 2 ** 40 } = {}): Promise<TestNode> {
  const setAside = new SetAside({ data, clock: systemClock, log: testLog(), free });
  return start(url, { data, name, setAside: () => setAside.keep('usage') });
}

async function withSources<T>(data: string, use: (sources: readonly Source[], directory: string) => Promise<T>) {
  const accounts = openAccountTables(data);
  const usage = openReplicaStore(data);
  const spool = new Spool(data, () => '');
  try {
    return await use(sourcesIn({ data, accounts, usage, spool }), spool.directory);
  } finally {
    await Promise.all([usage.lmdb.close(), accounts.lmdb.close(), spool.close()]);
  }
}

const secret = Buffer.alloc(32, 9);

function restore(
  url: string,
  data: string,
  { connection = connect(url), name }: { connection?: PostgresSession; name?: string } = {},
): Promise<AdoptionResult> {
  if ('close' in connection) onTestFinished(() => (connection as Connection).close());
  return withSources(data, (sources, directory) =>
    adoptReplica({
      source: sources.find((each) => name === undefined || each.name === name)!,
      directory,
      secret,
      connection,
      key: undefined,
      allowAsynchronous: false,
      onPart: () => {},
    }),
  );
}

/** Stops a node without contacting PostgreSQL, which might no longer exist. */
async function end(node: TestNode): Promise<string> {
  ended(node);
  await node.kill();
  return node.data;
}

describe('an empty database filled from a replica', () => {
  it('a database filled from a replica has the id of the lost database, so nodes continue and count once', async () => {
    const url = await newDatabase();
    const nodes = [await startNode(url, 'one'), await startNode(url, 'two'), await startNode(url, 'three')];
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode];
    const earlier = await startNode(url, 'earlier');
    earlier.count('earlier', 7);
    ended(earlier);
    await earlier.stop();
    for (const [index, node] of nodes.entries()) node.count('f', 10 ** index);
    for (const node of nodes) await expectCounts(node, { f: 111, earlier: 7 });
    await horizon(url);
    await lose(url);
    for (const node of nodes) node.count('g', 1);
    const data = await end(one);
    const { engine: id } = await restore(url, data);
    expect(await postgres.query('SELECT id FROM fm_engine', [], url)).toEqual([{ id }]);
    for (const node of [two, three, await start(url, { data }), await start(url, { data: earlier.data })])
      await expectCounts(node, { f: 111, g: 3, earlier: 7 });
    await expectCounts(await start(url), { f: 111, g: 3, earlier: 7 });
    const names = await postgres.query<{ name: string }>('SELECT name FROM fm_node ORDER BY name', [], url);
    expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['three', 'two']));
  });

  it('a database filled from a replica includes the last heartbeat of each node', async () => {
    const url = await newDatabase();
    const one = await startNode(url, 'one');
    const two = await startNode(url, 'two');
    const earlier = await startNode(url, 'earlier');
    ended(earlier);
    await earlier.stop();
    await end(two);
    const heard = async () => {
      const text = 'SELECT name, beat_at AS at FROM fm_node';
      const rows = await postgres.query<{ name: string; at: Date }>(text, [], url);
      return Object.fromEntries(rows.map(({ name, at }) => [name, at.getTime()]));
    };
    const before = await heard();
    await horizon(url);
    const head = "SELECT position::int FROM fm_head WHERE log = 'data'";
    const [at] = await postgres.query<{ position: number }>(head, [], url);
    await one.until(() => one.replica.applied.position >= at!.position);
    const data = await end(one);
    const last = await heard();
    await lose(url);
    await restore(url, data);
    const { one: own, ...others } = await heard();
    expect(others).toEqual({ two: last['two'], earlier: last['earlier'] });
    expect(own).toBeGreaterThanOrEqual(before['one']!);
    expect(own).toBeLessThanOrEqual(last['one']!);
  });

  it('a database filled from a replica lists an unknown node under its own name once the node joins', async () => {
    const url = await newDatabase();
    const one = await startNode(url, 'one');
    await horizon(url);
    const late = await startNode(url, 'late');
    late.count('f', 1);
    await expectCounts(one, { f: 1 });
    const data = await end(one);
    await lose(url);
    await restore(url, data);
    const names = () => postgres.query('SELECT name FROM fm_node ORDER BY name', [], url);
    await expect.poll(names).toEqual([{ name: 'late' }, { name: 'one' }]);
    late.count('f', 2);
    await expectCounts(await restartNode(url, data), { f: 3 });
  });

  it('filling a database from a replica succeeds after an interruption at any point, while nodes wait', async () => {
    const url = await newDatabase();
    const one = await startNode(url, 'one');
    const two = await startNode(url, 'two');
    one.count('f', 1);
    for (const node of [one, two]) await expectCounts(node, { f: 1 });
    await horizon(url);
    const data = await end(one);
    for (let call = 0, isDone = false; !isDone; call += 1) {
      await lose(url);
      const connection = connect(url);
      isDone = await restore(url, data, { connection: failing(connection, (made) => made === call) }).then(
        () => true,
        () => false,
      );
      two.count('g', 1);
      const done = await restore(url, data, { connection });
      expect(done.engine).toBe(two.spool.postgresId);
      const all = { f: 1, g: call + 1 };
      if (isDone || call % 4 === 0)
        for (const node of [two, await restartNode(url, await nodeDirectory(url))]) await expectCounts(node, all);
      await connection.close();
      if (isDone) expect(call).toBeGreaterThan(9);
    }
  });

  it('a database that is not empty cannot be filled from a replica, and stays unchanged', async () => {
    const url = await newDatabase();
    const one = await startNode(url, 'one');
    one.count('f', 1);
    await expectCounts(one, { f: 1 });
    const data = await end(one);
    await expect(restore(url, data)).rejects.toThrow(
      /^Cannot fill this database: it already has all counts of this directory .* start/,
    );
    const other = await newDatabase();
    await postgres.query("UPDATE fm_engine SET id = 'other'", [], other);
    await expect(restore(other, data)).rejects.toThrow(/^Cannot fill this database: it has other data of flagmeter /);
    expect(await postgres.query('SELECT 1 FROM fm_snapshot', [], other)).toEqual([]);
    await postgres.query("UPDATE fm_entry SET id = 5 WHERE kind = 'delta'", [], url);
    await expect(restore(url, data)).rejects.toThrow(/^Cannot fill this database: it has other data of flagmeter /);
    await lose(url);
    const { engine: id } = await restore(url, data);
    expect(await restore(url, data)).toEqual({ engine: id });
  });
});

describe('a node whose database was replaced', () => {
  it.each([
    ['has no tables', 'has no tables of flagmeter'],
    ['is another database', 'used with another database'],
  ])('a node keeps its data while its database %s, and continues with the right database', async (which, why) => {
    const url = await newDatabase();
    const node = await startNode(url, 'one');
    node.count('f', 1);
    await expectCounts(node, { f: 1 });
    const goBack = await copyDatabase(url);
    await lose(url);
    if (which === 'is another database') await initPostgres(url);
    node.count('f', 10);
    await node.until(({ trouble }) => trouble?.includes(why) === true);
    expect(node.counts()).toEqual({ f: 1 });
    await goBack();
    await expectCounts(node, { f: 11 });
    expect(logged(node, 'warn')).not.toContain('reloading the replica');
  });
});

describe('data that PostgreSQL has lost', () => {
  /** Starts two nodes whose database was restored to a state before 100 counts of the first node. */
  async function wentBack(free?: () => number) {
    const url = await newDatabase();
    const one = await restartNode(url, await nodeDirectory(url), { name: 'one', ...(free && { free }) });
    const two = await startNode(url, 'two');
    one.count('f', 1);
    for (const node of [one, two]) await expectCounts(node, { f: 1 });
    const goBack = await copyDatabase(url);
    one.count('f', 100);
    for (const node of [one, two]) await expectCounts(node, { f: 101 });
    await horizon(url);
    await one.until(({ status }) => one.replica.applied.position >= 4 && status.nodes.every(({ lag }) => lag === 0));
    const data = await end(one);
    await goBack();
    return { url, data, two };
  }

  it('data that PostgreSQL has lost is set aside before a node loads other content, and can be restored', async () => {
    const { url, data, two } = await wentBack();
    await expectCounts(two, { f: 1 });
    const folder = join(two.data, 'set-aside');
    const { names, bytes } = setAsideIn(two.data);
    expect(names).toHaveLength(1);
    expect(bytes).toBeGreaterThan(100);
    for (const file of readdirSync(join(folder, names[0]!)))
      expect(statSync(join(folder, names[0]!, file)).mode & 0o077, file).toBe(0);
    await lose(url);
    await restore(url, await end(two));
    for (const node of [await restartNode(url, two.data), await restartNode(url, data), await start(url)])
      await expectCounts(node, { f: 101 });
  });

  it('the list of sources for a restore begins with the source of the latest accounts', async () => {
    const { two } = await wentBack();
    await expectCounts(two, { f: 1 });
    const data = await end(two);
    const names = () => withSources(data, async (sources) => sources.map(({ name }) => name));
    const [kept] = setAsideIn(data).names;
    expect(await names()).toEqual([kept, 'replica']);
    const { lmdb } = openAccountTables(data);
    const copy = readCopyState(lmdb)!;
    lmdb.transactionSync(() => copyStateWriter(lmdb)({ ...copy, version: copy.version + 1 }));
    await lmdb.close();
    expect(await names()).toEqual(['replica', kept]);
  });

  it('a replica keeps data that PostgreSQL has lost if the disk has no space for a copy, and reports why', async () => {
    const { url, data } = await wentBack();
    const one = await restartNode(url, data, { free: () => 2 ** 20 });
    const { trouble } = await one.until((told) => told.trouble?.startsWith('Cannot set aside') === true);
    expect(trouble).toContain('has less than 128 MiB left');
    expect(one.counts()).toEqual({ f: 101 });
    expect(setAsideIn(data).names).toEqual([]);
    expect(existsSync(join(data, 'set-aside/prepare.tmp'))).toBe(false);
  });
});
