import { expect, vi } from 'vitest';
import type { Transaction } from '../../../src/accounts/store/account-store.ts';
import { needing } from '../../support/needing.ts';
import { Postgres } from '../../support/postgres.ts';
import { count, put, read } from './fixture.ts';
import { newDatabase, openNode } from './postgres-fixture.ts';

const { describe, test } = needing('postgresql');

const away = { code: 'postgres_unavailable', status: 503, retryAfter: 2 };

/** Runs a test with a separate server, whose failures do not affect other tests. */
async function withServer(use: (postgres: Postgres, url: string) => Promise<void>): Promise<void> {
  const postgres = await Postgres.start();
  try {
    await use(postgres, await newDatabase(postgres));
  } finally {
    await postgres.close();
  }
}

describe('an unreachable PostgreSQL', () => {
  test.each(['killed', 'paused'] as const)(
    'account requests get status 503 while PostgreSQL is %s, and succeed afterwards',
    async (how) => {
      await withServer(async (postgres, url) => {
        const { accountStore, health } = openNode(url, { deadlineMs: 2000 });
        await accountStore.start();
        await accountStore.change((tx) => count(tx));
        if (how === 'killed') await postgres.kill();
        else postgres.pause();
        const waited = await Promise.allSettled([
          accountStore.change((tx) => count(tx)),
          accountStore.current(),
          accountStore.change((tx) => tx.has('numbers', 'n')),
        ]);
        for (const each of waited) expect(each).toMatchObject({ status: 'rejected', reason: away });
        expect(accountStore.status().trouble).toBeDefined();
        await expect(accountStore.current()).rejects.toMatchObject(away);
        await expect(accountStore.change((tx) => count(tx))).rejects.toMatchObject(away);
        expect(read(accountStore, 'numbers', 'n')).toBe(1);
        if (how === 'killed') await postgres.start();
        else postgres.resume();
        const heals = { interval: 100 };
        await vi.waitFor(() => accountStore.change((tx) => count(tx)), heals);
        await accountStore.current();
        expect(accountStore.status().trouble).toBeUndefined();
        expect(health.failures).toEqual([]);
      });
    },
    60_000,
  );

  test('reads and changes of accounts wait for new sessions if PostgreSQL ends their sessions', async () => {
    await withServer(async (postgres, url) => {
      const { accountStore } = openNode(url);
      await Promise.all([accountStore.change((tx) => count(tx)), accountStore.current()]);
      const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ANY($1)';
      expect(await postgres.query(end, [['reads', 'changes']])).toHaveLength(2);
      await Promise.all([accountStore.change((tx) => count(tx)), accountStore.current()]);
      expect(read(accountStore, 'numbers', 'n')).toBe(2);
    });
  });

  test('a PostgreSQL that lost changes must be repaired before accounts can be managed again', async () => {
    await withServer(async (postgres, url) => {
      const repair = async () => (tx: Transaction) => put(tx, 'numbers', 'repaired', 1);
      const { accountStore } = openNode(url, { deadlineMs: 500, repair });
      await accountStore.change((tx) => count(tx));
      await accountStore.change((tx) => count(tx));
      await postgres.query('DELETE FROM fm_change WHERE version = (SELECT max(version) FROM fm_change)', [], url);
      const last = `SELECT version, id FROM fm_change ORDER BY version DESC LIMIT 1`;
      await postgres.query(`UPDATE fm_head SET (position, id) = (${last}) WHERE log = 'control'`, [], url);
      await postgres.kill();
      await expect(accountStore.current()).rejects.toMatchObject(away);
      await postgres.start();
      await accountStore.start();
      await vi.waitFor(() => accountStore.current(), { interval: 100 });
      expect(read(accountStore, 'numbers', 'repaired')).toBe(1);
      expect(accountStore.status().trouble).toBeUndefined();
    });
  });
});
