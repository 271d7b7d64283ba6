import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { prepareRepair } from '../auth/after-loss.ts';
import { Refusal } from '../contract/errors.ts';
import { joinPostgres } from '../replication/accounts/join-postgres.ts';
import { PostgresAccountStore } from '../replication/accounts/postgres.ts';
import { checkSamePostgres } from '../replication/postgres/checks.ts';
import { SharedClock } from '../replication/postgres/shared-clock.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Config } from './config/config.ts';
import { loadPostgresKey, postgresAddress, withPostgres } from './postgres-connection.ts';

interface PostgresAccounts {
  readonly accounts: AccountTables;
  readonly accountStore: PostgresAccountStore;
  readonly directory: Directory;
  readonly clock: Clock;
}

/**
 * Opens a temporary copy of the accounts in PostgreSQL for one command. Running nodes see its changes immediately.
 * @param config with a PostgreSQL database
 * @throws {PostgresError} if PostgreSQL cannot be reached
 */
export async function withPostgresAccounts<T>(
  config: Config,
  use: (opened: PostgresAccounts) => Promise<T>,
): Promise<T> {
  const key = loadPostgresKey(config);
  const log = createLog('error', () => {}, systemClock);
  const data = mkdtempSync(join(tmpdir(), 'flagmeter-engine-'));
  try {
    return await withPostgres(postgresAddress(config.postgres!), async (connection) => {
      // Checks the key: nodes cannot read data that was encrypted with another key.
      await connection.transaction((run) => checkSamePostgres(run, undefined, key));
      const clock = new SharedClock(systemClock);
      await clock.ask((statement) => connection.query(statement)); // Unlike a node, a command does not wait for PostgreSQL.
      const accounts = (await joinPostgres(data, { connection, key, log, pause: async () => false }))!;
      const accountStore = new PostgresAccountStore(accounts, {
        reads: connection,
        changes: connection,
        signIns: connection,
        key,
        log,
        randomBytes,
        health: { ready: true, failed: () => {} },
        directory: 'commands',
        clock,
        repair: () => prepareRepair(clock, config.signingAlg),
        setAside: async () => {}, // A new copy has nothing to set aside.
      });
      const directory = openDirectory(accountStore, { clock, randomBytes });
      try {
        return await use({ accounts, accountStore, directory, clock });
      } finally {
        await accountStore.close();
        await accounts.lmdb.close();
      }
    });
  } finally {
    rmSync(data, { recursive: true });
  }
}

/** Replaces a refusal, whose text is for clients, with an error that describes the problem of the store. */
export function postgresFailure(error: unknown, { accountStore }: PostgresAccounts): unknown {
  const { trouble } = accountStore.status();
  return error instanceof Refusal && trouble !== undefined ? new Error(trouble) : error;
}
