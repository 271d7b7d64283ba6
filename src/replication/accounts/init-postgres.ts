import { type FirstCredentials, firstRecords, type Preparation } from '../../accounts/prepare.ts';
import { checkPlace, notMade } from '../postgres/checks.ts';
import type { Connection } from '../postgres/connection.ts';
import { logStart, newLogId } from '../postgres/follower.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import { type PostgresKey, storedSecret } from '../postgres/postgres-key.ts';
import { createTables, type NewPostgres } from '../postgres/schema.ts';
import type { Statement } from '../postgres/session.ts';
import { writeChange } from './control-statements.ts';
import { isOwn } from './copy.ts';
import { RecordCodec } from './record-codec.ts';

const secretBytes = 32;

interface PostgresInit {
  /** Key that encrypts the secrets in the database. */
  readonly key: PostgresKey | undefined;
  readonly wanted: Preparation;
  /** True to accept that a failover can lose commits. */
  readonly allowAsynchronous?: boolean;
}

/** A new database, and its first credentials. */
interface InitialisedPostgres {
  readonly engine: string;
  readonly credentials: FirstCredentials;
}

/**
 * Creates the tables and the first accounts, in one transaction.
 * @throws {PostgresSetupError} the tables exist, or this role lacks rights; nothing was changed
 * @throws {PostgresError} no table was created, unless the message says otherwise
 */
export async function initPostgres(
  connection: Connection,
  { key, wanted, allowAsynchronous }: PostgresInit,
): Promise<InitialisedPostgres> {
  const { randomBytes } = wanted;
  await checkPlace(connection, allowAsynchronous);
  const { writes, credentials } = await firstRecords(wanted);
  const codec = new RecordCodec(key);
  const records = writes.filter(({ table, key }) => !isOwn(table, key)).map((write) => codec.encode(write));
  const postgres: NewPostgres = {
    id: Buffer.from(randomBytes(16)).toString('hex'),
    secret: storedSecret(Buffer.from(randomBytes(secretBytes)), key),
  };
  const first = writeChange(logStart, newLogId(randomBytes), codec.encodeChange(records), records);
  await makeOnce(connection, postgres, first);
  return { engine: postgres.id, credentials };
}

async function makeOnce(connection: Connection, postgres: NewPostgres, first: Statement): Promise<void> {
  try {
    await connection.transaction(async (run) => {
      await createTables(run, postgres);
      void run(first);
    });
  } catch (error) {
    if (!(error instanceof PostgresError) || error.code !== 'unknown_outcome') notMade(error);
    await settle(connection, postgres, error);
  }
}

/**
 * Checks if the tables exist, after the response to the commit was lost. Another synchronous commit confirms the
 * result.
 */
async function settle(connection: Connection, { id }: NewPostgres, lost: PostgresError): Promise<void> {
  const text = 'UPDATE fm_engine SET id = id WHERE id = $1';
  let isKept: boolean;
  try {
    isKept = (await connection.query({ text, values: [id] })).rowCount > 0;
  } catch (error) {
    if ((error as PostgresError).sqlstate === '42P01') throw new PostgresError('unreachable', lost.message);
    const what = 'Cannot tell whether the database was initialised';
    const then =
      'when PostgreSQL is available again, drop the tables (flagmeter postgres status shows them), and initialise it again';
    throw new PostgresError('unknown_outcome', `${what}: ${lost.message}; ${then}`);
  }
  if (!isKept) throw new PostgresError('unreachable', lost.message);
}
