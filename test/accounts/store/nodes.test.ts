import { expect } from 'vitest';
import type { Transaction, Write } from '../../../src/accounts/store/account-store.ts';
import { repairKey } from '../../../src/replication/accounts/copy.ts';
import type { PostgresSession } from '../../../src/replication/postgres/connection.ts';
import type { QueryResult, Run } from '../../../src/replication/postgres/session.ts';
import { readCopyState } from '../../../src/storage/lmdb/accounts.ts';
import { cuttingRelay } from '../../replication/postgres/relay.ts';
import { needing } from '../../support/needing.ts';
import type { Postgres } from '../../support/postgres.ts';
import { count, put, read } from './fixture.ts';
import { emptyCopy, newDatabase, openNode, sharedServer, type TestNode } from './postgres-fixture.ts';

const { describe, test } = needing('postgresql');

/** Uses a token that is valid only once. */
function spend(tx: Transaction): string {
  if (!tx.has('loginThrottles', 'token')) return 'refused';
  tx.remove('loginThrottles', 'token');
  return 'exchanged';
}

async function twoNodes(): Promise<{ url: string; one: TestNode; other: TestNode }> {
  const url = await newDatabase(await sharedServer());
  return { url, one: openNode(url), other: openNode(url) };
}

/** Changes the responses to all statements that have the given name. */
function alterResponses(
  name: string,
  change: (result: QueryResult) => QueryResult,
): (connection: PostgresSession) => PostgresSession {
  const wrap = (run: Run): Run =>
    ((statement) => {
      const result = run(statement);
      return statement.name === name ? result.then(change) : result;
    }) as Run;
  return (connection) => ({
    query: wrap((statement) => connection.query(statement)),
    transaction: (work) => connection.transaction((run) => work(wrap(run))),
  });
}

describe('a change of another node', () => {
  test('a read sees a change of another node that was complete before the read began', async () => {
    const { one, other } = await twoNodes();
    const heard: Write[] = [];
    other.accountStore.onCommit((writes) => void heard.push(...writes));
    for (let round = 1; round <= 30; round += 1) {
      await one.accountStore.change((tx) => put(tx, 'numbers', 'n', round));
      await other.accountStore.current();
      expect(read(other.accountStore, 'numbers', 'n')).toBe(round);
      expect(heard.at(-1)).toMatchObject({ table: 'numbers', key: 'n', value: round });
    }
    expect(other.accountStore.version).toBe(one.accountStore.version);
  });

  test('many concurrent readers see each completed change of another node while the node makes further changes', async () => {
    const { one, other } = await twoNodes();
    let completed = 0;
    let isOver = false;
    const changing = (async () => {
      for (; !isOver; completed += 1) await one.accountStore.change((tx) => count(tx));
    })();
    const asking = Array.from({ length: 32 }, async () => {
      for (let round = 0; round < 50; round += 1) {
        const before = completed;
        await other.accountStore.current();
        expect(read(other.accountStore, 'numbers', 'n') ?? 0).toBeGreaterThanOrEqual(before);
      }
    });
    await Promise.all(asking);
    isOver = true;
    await changing;
    expect(completed).toBeGreaterThan(0);
  });

  test('a reader misses the change of another node if PostgreSQL reports an old position', async () => {
    const url = await newDatabase(await sharedServer());
    const one = openNode(url);
    const old = { position: 0, id: '0', entries: [] };
    const stale = (all: QueryResult) => ({ ...all, rows: all.rows.map((row) => ({ ...row, ...old })) });
    const other = openNode(url, { wrap: alterResponses('fm_control_confirm', stale) });
    await one.accountStore.change((tx) => put(tx, 'numbers', 'n', 1));
    await other.accountStore.current();
    expect(read(other.accountStore, 'numbers', 'n')).toBeUndefined();
  });

  test('changes of a node see earlier changes of another node', async () => {
    const { one, other } = await twoNodes();
    const counting = Array.from({ length: 200 }, (_, round) =>
      (round % 2 === 0 ? one : other).accountStore.change((tx) => count(tx)),
    );
    const counts = await Promise.all(counting);
    expect(counts.sort((a, b) => a - b)).toEqual(counts.map((_, index) => index));
  });

  test('a change that can succeed only once succeeds on only one node', async () => {
    const { one, other } = await twoNodes();
    for (let round = 0; round < 8; round += 1) {
      await one.accountStore.change((tx) => put(tx, 'loginThrottles', 'token', 1));
      const callers = [one, other, one, other, other, one];
      const results = await Promise.all(callers.map(({ accountStore }) => accountStore.change(spend)));
      expect(results.filter((result) => result === 'exchanged')).toHaveLength(1);
    }
  });

  test('the change of another node arrives within seconds, even without a read', async () => {
    const { one, other } = await twoNodes();
    await other.accountStore.start();
    const seen = new Promise<void>((resolve) => other.accountStore.onCommit(() => resolve()));
    await one.accountStore.change((tx) => put(tx, 'numbers', 'n', 1));
    await seen;
    expect(read(other.accountStore, 'numbers', 'n')).toBe(1);
  });
});

describe('a commit whose response is lost', () => {
  test('a commit whose response is lost is treated as successful, and is not repeated', async () => {
    const postgres = await sharedServer();
    const relay = await cuttingRelay(postgres, await newDatabase(postgres), 'fm_control_write');
    const { accountStore } = openNode(relay.url);
    for (let round = 1; round <= 4; round += 1) {
      await accountStore.change((tx) => put(tx, 'loginThrottles', 'token', 1));
      relay.loseNextCommit();
      expect(await accountStore.change(spend)).toBe('exchanged');
      expect(relay.lost).toBe(round);
    }
    expect(accountStore.version).toBe(8);
  });

  test('a commit whose response is lost is mistaken for a change of another node if commits have no ids', async () => {
    const postgres = await sharedServer();
    const url = await newDatabase(postgres);
    const relay = await cuttingRelay(postgres, url, 'fm_control_write');
    const withoutIds = (result: QueryResult) => ({ ...result, rows: result.rows.map((row) => ({ ...row, id: '0' })) });
    const wrapBoth = (connection: PostgresSession) =>
      alterResponses('fm_control_lock', withoutIds)(alterResponses('fm_control_changes', withoutIds)(connection));
    await openNode(url).accountStore.change((tx) => put(tx, 'loginThrottles', 'token', 1));
    await (await sharedServer()).query('UPDATE fm_change SET id = 0', [], url);
    await (await sharedServer()).query("UPDATE fm_head SET id = 0 WHERE log = 'control'", [], url);
    const { accountStore } = openNode(relay.url, { wrap: wrapBoth });
    await accountStore.change(() => undefined);
    relay.loseNextCommit();
    expect(await accountStore.change(spend)).toBe('refused');
  });

  test('a commit with a lost response is treated as successful even if another connection sees the commit first', async () => {
    const postgres = await sharedServer();
    const relay = await cuttingRelay(postgres, await newDatabase(postgres), 'fm_control_write');
    const { accountStore } = openNode(relay.url);
    await accountStore.change((tx) => put(tx, 'loginThrottles', 'token', 1));
    relay.loseNextCommit();
    const change = accountStore.change(spend);
    while (relay.lost === 0) await accountStore.current();
    await accountStore.current();
    expect(await change).toBe('exchanged');
  });
});

const away = { code: 'postgres_unavailable', status: 503, retryAfter: 2 };

/** Saves the accounts in PostgreSQL. Returns a function that restores them. */
async function backUp(postgres: Postgres, url: string): Promise<() => Promise<void>> {
  const tables = ['fm_head', 'fm_change', 'fm_record'];
  for (const table of tables) await postgres.query(`CREATE TABLE kept_${table} AS TABLE ${table}`, [], url);
  return async () => {
    for (const table of tables) {
      await postgres.query(`TRUNCATE ${table}`, [], url);
      await postgres.query(`INSERT INTO ${table} TABLE kept_${table}`, [], url);
    }
  };
}

describe('a PostgreSQL that has reverted to an earlier state', () => {
  test.each(['a read', 'a change'] as const)(
    '%s detects that PostgreSQL was restored to an older state, and the lost records are repaired',
    async (by) => {
      const postgres = await sharedServer();
      const url = await newDatabase(postgres);
      const change = (tx: Transaction) => put(tx, 'numbers', 'repaired', 1);
      const node = openNode(url, { repair: async () => change });
      const { accountStore, store, log } = node;
      await accountStore.change((tx) => put(tx, 'numbers', 'kept', 1));
      const restore = await backUp(postgres, url);
      await accountStore.change((tx) => put(tx, 'numbers', 'kept', 2));
      await accountStore.change((tx) => put(tx, 'loginThrottles', 'lost', 3));
      await restore();
      // Another node makes a change after PostgreSQL was restored to the older state.
      await openNode(url).accountStore.change((tx) => put(tx, 'numbers', 'new', 4));
      if (by === 'a read') await accountStore.current();
      else await accountStore.change((tx) => tx.get('numbers', 'kept'));
      expect(Object.fromEntries(accountStore.records('numbers'))).toEqual({ kept: 1, new: 4, repaired: 1 });
      expect(accountStore.has('loginThrottles', 'lost')).toBe(false);
      expect(readCopyState(store.lmdb)).toMatchObject({ lossOpen: false, version: accountStore.version });
      expect(log.lines.join('\n')).toContain('PostgreSQL has lost changes');
      const other = openNode(url);
      await other.accountStore.current();
      expect(read(other.accountStore, 'numbers', 'repaired')).toBe(1);
    },
  );

  test('a replica keeps its records while PostgreSQL has no records', async () => {
    const postgres = await sharedServer();
    const url = await newDatabase(postgres);
    const { accountStore } = openNode(url);
    await accountStore.change((tx) => put(tx, 'numbers', 'kept', 1));
    await postgres.query("UPDATE fm_head SET id = 7 WHERE log = 'control'", [], url);
    await postgres.query('TRUNCATE fm_record', [], url);
    await expect(accountStore.current()).rejects.toMatchObject(away);
    expect(accountStore.status().trouble).toContain('until the restore has finished');
    expect(read(accountStore, 'numbers', 'kept')).toBe(1);
  });

  test('only one node repairs PostgreSQL after a loss of changes, even if several nodes had applied the lost changes', async () => {
    const postgres = await sharedServer();
    const url = await newDatabase(postgres);
    let repairs = 0;
    const repair = async () => (tx: Transaction) => {
      repairs += 1;
      put(tx, 'numbers', repairKey, repairs);
    };
    const nodes = [1, 2, 3].map(() => openNode(url, { repair }).accountStore);
    const lose = async (restore: () => Promise<void>, value: number) => {
      await nodes[0]!.change((tx) => put(tx, 'numbers', 'lost', value));
      for (const node of nodes) await node.current();
      await restore();
    };
    await nodes[0]!.change((tx) => put(tx, 'numbers', 'kept', 1));
    const restore = await backUp(postgres, url);
    await lose(restore, 1);
    await Promise.all([nodes[0]!.current(), nodes[1]!.current()]);
    await nodes[2]!.current();
    expect(repairs).toBe(1);
    await lose(restore, 2);
    for (const node of nodes) await node.current();
    expect(repairs).toBe(2);
    for (const node of nodes) expect(Object.fromEntries(node.records('numbers'))).toEqual({ kept: 1, [repairKey]: 2 });
  });

  test('a node that was disconnected for a long time does not conclude that PostgreSQL lost changes', async () => {
    const postgres = await sharedServer();
    const url = await newDatabase(postgres);
    const one = openNode(url);
    const store = emptyCopy();
    const early = openNode(url, { store });
    await one.accountStore.change((tx) => put(tx, 'numbers', 'a', 1));
    await early.accountStore.current();
    for (const key of ['b', 'c']) await one.accountStore.change((tx) => put(tx, 'numbers', key, 1));
    await postgres.query('DELETE FROM fm_change WHERE version < 3', [], url);
    await early.accountStore.current();
    expect([...early.accountStore.records('numbers').keys()].sort()).toEqual(['a', 'b', 'c']);
    expect(readCopyState(store.lmdb)).toMatchObject({ lossOpen: false, version: 3 });
    expect(early.log.lines.join('\n')).not.toContain('lost');
  });
});

describe('a replica', () => {
  test('a replica notifies its listeners once for each record, even after several changes to the record', async () => {
    const { one, other } = await twoNodes();
    for (const value of [1, 2, 3]) await one.accountStore.change((tx) => put(tx, 'numbers', 'n', value));
    await one.accountStore.change((tx) => tx.remove('numbers', 'n'));
    const heard: Write[] = [];
    other.accountStore.onCommit((writes) => void heard.push(...writes));
    await other.accountStore.current();
    expect(heard).toEqual([{ table: 'numbers', key: 'n', value: undefined }]);
  });

  test('a replica catches up after a crash', async () => {
    const url = await newDatabase(await sharedServer());
    const one = openNode(url);
    for (let round = 0; round < 5; round += 1) await one.accountStore.change((tx) => count(tx));
    const { accountStore } = openNode(url);
    expect(await accountStore.change((tx) => count(tx))).toBe(5);
    expect(accountStore.version).toBe(6);
  });

  test('a node refuses to use the replica of another database, and leaves it unchanged', async () => {
    const url = await newDatabase(await sharedServer());
    const { accountStore, store, log } = openNode(url, { store: emptyCopy('engine-2') });
    await expect(accountStore.current()).rejects.toMatchObject(away);
    expect(log.lines.join('\n')).toContain('used with another database');
    expect(readCopyState(store.lmdb)).toMatchObject({ engine: 'engine-2', version: 0 });
  });
});
