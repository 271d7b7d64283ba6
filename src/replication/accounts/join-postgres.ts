import { join } from 'node:path';
import { checkNoJournal, openPreparedOrCopy } from '../../accounts/prepare.ts';
import type { Write } from '../../accounts/store/account-store.ts';
import { applyWrites } from '../../accounts/store/committed.ts';
import { isPresent } from '../../runtime/files.ts';
import type { Log } from '../../runtime/log.ts';
import {
  type AccountTables,
  type CopyState,
  copyStateWriter,
  openAccountTables,
  readCopyState,
} from '../../storage/lmdb/accounts.ts';
import { createAtomically } from '../../storage/lmdb/data-directory.ts';
import { accountsLayout, currentLayout } from '../../storage/lmdb/layout.ts';
import { openSpoolStore, openUsageTables } from '../../storage/lmdb/usage.ts';
import { checkId, FillInProgressError } from '../postgres/checks.ts';
import type { PostgresSession } from '../postgres/connection.ts';
import { PostgresEmpty, PostgresError } from '../postgres/postgres-error.ts';
import type { PostgresKey } from '../postgres/postgres-key.ts';
import { readAccounts } from './control-statements.ts';
import { newCopy } from './copy.ts';
import { RecordCodec } from './record-codec.ts';

export interface JoinRequest {
  readonly connection: PostgresSession;
  readonly key: PostgresKey | undefined;
  readonly log: Log;
  /** Called before the connection is used, with the id of the database that the directory belongs to. */
  readonly belongsTo?: (postgresId: string) => void;
  /** Resolves with true after `ms`, or with false if the process must stop. */
  pause(ms: number): Promise<boolean>;
}

const retryMs = 1000;

/**
 * Opens the accounts of a data directory as a copy of the accounts in PostgreSQL. For an empty directory, waits for
 * PostgreSQL and loads the copy. Other directories can be opened without PostgreSQL.
 * @returns `undefined` if the process is to stop
 * @throws {Error} if the directory belongs to another database, or to no database; nothing is written
 */
export async function joinPostgres(data: string, joining: JoinRequest): Promise<AccountTables | undefined> {
  const accounts = await openPreparedOrCopy(data);
  if (accounts === undefined) return joinEmpty(data, joining);
  try {
    await checkCopy(data, accounts, joining);
    return accounts;
  } catch (error) {
    await accounts.lmdb.close();
    throw error;
  }
}

/**
 * Checks that a directory belongs to a node.
 * @throws {Error} if it belongs to a single machine, or its move to PostgreSQL is not finished
 */
export function checkIsCopy(data: string, state: CopyState | undefined): asserts state is CopyState {
  if (state === undefined)
    throw new Error(
      `Cannot use ${data} with --postgres: it has the accounts of a single machine; move them with flagmeter postgres adopt`,
    );
  if (state.adopting)
    throw new Error(`Cannot use ${data}: its move to PostgreSQL is not finished; run flagmeter postgres adopt again`);
}

async function checkCopy(
  data: string,
  { lmdb }: AccountTables,
  { connection, log, belongsTo }: JoinRequest,
): Promise<void> {
  const state = readCopyState(lmdb);
  checkIsCopy(data, state);
  belongsTo?.(state.engine);
  try {
    const { rows } = await connection.query<{ id: string }>({ text: 'SELECT id FROM fm_engine' });
    checkId(state.engine, rows[0]?.id);
  } catch (error) {
    if (error instanceof PostgresEmpty) throw new PostgresEmpty(state.engine);
    if (!isAway(error)) throw error;
    const next = 'counting begins; accounts can be managed once PostgreSQL responds';
    log.warn('PostgreSQL is not available', { error: (error as Error).message, next });
  }
}

async function joinEmpty(data: string, joining: JoinRequest): Promise<AccountTables | undefined> {
  let said: string | undefined;
  for (;;) {
    try {
      return await load(data, joining);
    } catch (error) {
      if (!isAway(error) || (error as PostgresError).code === 'refused') throw error;
      const { message } = error as Error;
      const next = 'this data directory is empty: the service starts when PostgreSQL is available';
      if (message !== said) joining.log.warn('PostgreSQL is not available', { error: message, next });
      said = message;
      if (!(await joining.pause(retryMs))) return undefined;
    }
  }
}

/** True if PostgreSQL can become available without a change of the settings. */
export function isAway(error: unknown): boolean {
  if (error instanceof FillInProgressError) return true;
  return error instanceof PostgresError && error.code !== 'sql';
}

async function load(data: string, { connection, key, log }: JoinRequest): Promise<AccountTables> {
  const { engine, head, records } = await readAccounts(connection);
  if (head.position === 0)
    throw new Error(
      'Cannot use --postgres: the database has no accounts yet; finish flagmeter postgres adopt, or run flagmeter postgres init',
    );
  checkNoJournal(data);
  const writes = new RecordCodec(key).decodeRecords(records);
  await createAtomically(data, async (aside) => {
    const accounts = openAccountTables(aside);
    const layout = currentLayout(accountsLayout);
    const writeState = copyStateWriter(accounts.lmdb);
    accounts.lmdb.transactionSync(() => {
      applyWrites(accounts, [...writes, { table: 'numbers', key: 'layout', value: layout } as Write]);
      writeState(newCopy(String(engine), head));
    });
    await accounts.lmdb.close();
    await openUsageTables(aside).lmdb.close();
    // The spool is created now, so that a missing spool later means a lost spool.
    if (!isPresent(join(data, 'spool'))) await openSpoolStore(aside).lmdb.close();
  });
  log.info('the accounts were loaded from PostgreSQL', { version: head.position, records: writes.length });
  return openAccountTables(data);
}
