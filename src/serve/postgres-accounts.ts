import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { planAfterLoss } from '../auth/after-loss.ts';
import { ApiError } from '../contract/errors.ts';
import { joinPostgres } from '../replication/accounts/join-postgres.ts';
import { PostgresAccountStore } from '../replication/accounts/postgres.ts';
import { readPostgresKey } from '../replication/postgres/postgres-key.ts';
import { SharedClock } from '../replication/postgres/shared-clock.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import { type PostgresSettings, withPostgres } from './postgres-connection.ts';

/** The accounts of an engine, for one command. */
export interface PostgresAccounts {
  readonly accounts: AccountTables;
  readonly accountStore: PostgresAccountStore;
  readonly directory: Directory;
  readonly clock: Clock;
}

/**
 * Opens the accounts of an engine for one command, by a copy of their own that is gone afterwards: nodes may run meanwhile, and
 * see what is changed at once.
 * @throws {PostgresError} it cannot be reached
 */
export async function withPostgresAccounts<T>(
  { config, address }: PostgresSettings,
  use: (opened: PostgresAccounts) => Promise<T>,
): Promise<T> {
  const { postgresKeyFile, signingAlg } = config;
  const key = postgresKeyFile === undefined ? undefined : readPostgresKey(postgresKeyFile);
  const log = createLog('error', () => {}, systemClock);
  const data = mkdtempSync(join(tmpdir(), 'flagmeter-engine-'));
  try {
    return await withPostgres(address, async (connection) => {
      const clock = new SharedClock(systemClock);
      await clock.ask((statement) => connection.query(statement)); // Joining would wait for PostgreSQL.
      const accounts = (await joinPostgres(data, { connection, key, log, pause: async () => false }))!;
      const accountStore = new PostgresAccountStore(accounts, {
        ...{ reads: connection, changes: connection, signIns: connection, key, log, randomBytes },
        health: { ready: true, failed: () => {} },
        directory: 'commands',
        clock,
        repair: () => planAfterLoss(clock, signingAlg),
        setAside: async () => {}, // This copy is new, and nobody's.
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

/** What went wrong, for people: what is in an answer for a client says too little. */
export function postgresFailure(error: unknown, { accountStore }: PostgresAccounts): unknown {
  const { trouble } = accountStore.status();
  return error instanceof ApiError && trouble !== undefined ? new Error(trouble) : error;
}
