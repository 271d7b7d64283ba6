import { type FirstCredentials, firstRecords, type Preparation } from '../../accounts/prepare.ts';
import type { Connection } from '../postgres/connection.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { EngineKey } from '../postgres/engine-key.ts';
import { storedSecret } from '../postgres/engine-key.ts';
import { checkPlace, notMade } from '../postgres/init-checks.ts';
import { logStart, newLogId } from '../postgres/log-position.ts';
import { createTables, type NewEngine } from '../postgres/schema.ts';
import type { Statement } from '../postgres/statement.ts';
import { writeChange } from './control-statements.ts';
import { isOwn } from './copy.ts';
import { RecordCodec } from './record-codec.ts';

const secretBytes = 32;

/** What a command line has besides the engine. */
export interface EngineInit {
  /** Encrypts the secrets in the engine. */
  readonly key: EngineKey | undefined;
  readonly wanted: Preparation;
  /** Accepts that a failover may lose commits. */
  readonly allowAsynchronous?: boolean;
}

/** A new engine, and what its accounts begin with. */
export interface InitialisedEngine {
  readonly engine: string;
  readonly credentials: FirstCredentials;
}

/**
 * Makes the tables of an engine and its first accounts, in one transaction.
 * @throws {EngineUnfit} it is initialised already, or this role may not; nothing was changed
 * @throws {EngineError} nothing was kept, unless the message says otherwise
 */
export async function initEngine(
  connection: Connection,
  { key, wanted, allowAsynchronous }: EngineInit,
): Promise<InitialisedEngine> {
  const { randomBytes } = wanted;
  await checkPlace(connection, allowAsynchronous);
  const { writes, credentials } = await firstRecords(wanted);
  const codec = new RecordCodec(key);
  const records = writes.filter(({ table, key }) => !isOwn(table, key)).map((write) => codec.encode(write));
  const engine: NewEngine = {
    id: Buffer.from(randomBytes(16)).toString('hex'),
    secret: storedSecret(Buffer.from(randomBytes(secretBytes)), key),
  };
  const first = writeChange(logStart, newLogId(randomBytes), codec.encodeChange(records), records);
  await makeOnce(connection, engine, first);
  return { engine: engine.id, credentials };
}

async function makeOnce(connection: Connection, engine: NewEngine, first: Statement): Promise<void> {
  try {
    await connection.transaction(async (run) => {
      await createTables(run, engine);
      void run(first);
    });
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'unknown_outcome') notMade(error);
    await settle(connection, engine, error);
  }
}

/** The answer to the commit was lost: another synchronous commit tells whether the tables are there. */
async function settle(connection: Connection, { id }: NewEngine, lost: EngineError): Promise<void> {
  const text = 'UPDATE fm_engine SET id = id WHERE id = $1';
  let isKept: boolean;
  try {
    isKept = (await connection.query({ text, values: [id] })).rowCount > 0;
  } catch (error) {
    if ((error as EngineError).sqlstate === '42P01') throw new EngineError('unreachable', lost.message);
    const what = 'Whether the engine is initialised is not known';
    const then =
      'when the engine is back, drop what is there (flagmeter engine status shows it), and initialise it again';
    throw new EngineError('unknown_outcome', `${what}: ${lost.message}; ${then}`);
  }
  if (!isKept) throw new EngineError('unreachable', lost.message);
}
