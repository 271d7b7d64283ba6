import { onTestFinished } from 'vitest';
import type { PostgresSession } from '../../../src/replication/postgres/connection.ts';
import { PostgresError } from '../../../src/replication/postgres/postgres-error.ts';
import { needing } from '../../support/needing.ts';
import { testAccountStore } from './account-store-suite.ts';
import type { AccountStoreFixture } from './fixture.ts';
import { testModel } from './model-suite.ts';
import { newDatabase, openNode, sharedServer } from './postgres-fixture.ts';

/** An account store whose transactions are delayed before COMMIT, or are rolled back. */
async function open(): Promise<AccountStoreFixture> {
  let gate: Promise<void> | undefined;
  let failure: Error | undefined;
  let commits = 0;
  const wrap = (connection: PostgresSession): PostgresSession => ({
    query: (statement) => connection.query(statement),
    transaction: (work) =>
      connection.transaction(async (run) => {
        const result = await work((statement) => {
          if (statement.name === 'fm_control_write') commits += 1;
          return run(statement);
        });
        await gate;
        const error = failure;
        failure = undefined;
        if (error !== undefined) throw error;
        return result;
      }),
  });
  const url = await newDatabase(await sharedServer());
  const { accountStore, health, store } = openNode(url, { wrap });
  return {
    accountStore,
    health,
    refusal: { code: 'postgres_unavailable', status: 503, retryAfter: 2 },
    listFailures: () => [],
    hold() {
      let release: () => void = () => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      onTestFinished(() => release());
      return release;
    },
    failNext() {
      failure = new PostgresError('sql', 'could not extend file', '53100');
    },
    commits: () => commits,
    reopen: () => openNode(url, { store }).accountStore,
  };
}

needing('postgresql').describe('PostgresAccountStore', () => {
  testAccountStore('postgres', open);
  testModel('postgres', open);
});
