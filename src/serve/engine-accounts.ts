import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { planAfterLoss } from '../auth/after-loss.ts';
import { ApiError } from '../contract/errors.ts';
import { joinEngine } from '../replication/accounts/join-engine.ts';
import { PostgresEngine } from '../replication/accounts/postgres.ts';
import { readEngineKey } from '../replication/postgres/engine-key.ts';
import { SharedClock } from '../replication/postgres/shared-clock.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import type { AccountStore } from '../storage/lmdb/accounts.ts';
import { type EngineSettings, withEngine } from './engine-connection.ts';

/** The accounts of an engine, for one command. */
export interface EngineAccounts {
  readonly accounts: AccountStore;
  readonly engine: PostgresEngine;
  readonly directory: Directory;
  readonly clock: Clock;
}

/**
 * Opens the accounts of an engine for one command, by a copy of their own that is gone afterwards: nodes may run meanwhile, and
 * see what is changed at once.
 * @throws {EngineError} it cannot be reached
 */
export async function withEngineAccounts<T>(
  { config, address }: EngineSettings,
  use: (opened: EngineAccounts) => Promise<T>,
): Promise<T> {
  const { engineKeyFile, signingAlg } = config;
  const key = engineKeyFile === undefined ? undefined : readEngineKey(engineKeyFile);
  const log = createLog('error', () => {}, systemClock);
  const data = mkdtempSync(join(tmpdir(), 'flagmeter-engine-'));
  try {
    return await withEngine(address, async (connection) => {
      const clock = new SharedClock(systemClock);
      await clock.ask((statement) => connection.query(statement)); // Joining would wait for PostgreSQL.
      const accounts = (await joinEngine(data, { connection, key, log, pause: async () => false }))!;
      const engine = new PostgresEngine(accounts, {
        ...{ reads: connection, changes: connection, signIns: connection, key, log, randomBytes },
        health: { ready: true, failed: () => {} },
        directory: 'commands',
        clock,
        repair: () => planAfterLoss(clock, signingAlg),
        setAside: async () => {}, // This copy is new, and nobody's.
      });
      const directory = openDirectory(engine, { clock, randomBytes });
      try {
        return await use({ accounts, engine, directory, clock });
      } finally {
        await engine.close();
        await accounts.lmdb.close();
      }
    });
  } finally {
    rmSync(data, { recursive: true });
  }
}

/** What went wrong, for people: what is in an answer for a client says too little. */
export function engineFailure(error: unknown, { engine }: EngineAccounts): unknown {
  const { trouble } = engine.status();
  return error instanceof ApiError && trouble !== undefined ? new Error(trouble) : error;
}
