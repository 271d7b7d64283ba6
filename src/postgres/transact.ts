import { EngineError } from './engine-error.ts';
import type { Session } from './session.ts';
import type { QueryResult, Run, Statement } from './statement.ts';

/** Runs a transaction on a session that does nothing else meanwhile: see `Connection.transaction`. */
export async function transact<T>(session: Session, work: (run: Run) => Promise<T> | T): Promise<T> {
  let failure: unknown;
  const run = <Row>(statement: Statement): Promise<QueryResult<Row>> => {
    const answer = session.send(statement, false).catch((error: EngineError) => {
      failure ??= nothingKept(error);
      throw failure;
    });
    // `work` need not wait for it: COMMIT tells.
    answer.catch(() => {});
    return answer as unknown as Promise<QueryResult<Row>>;
  };
  void run({ text: 'BEGIN' }).catch(() => {});
  const result = await attempt(session, () => work(run));
  if (!session.isOpen)
    throw failure ?? new EngineError('unreachable', 'The session with the engine was lost');
  const { command } = await session.send({ text: 'COMMIT' }, true);
  if (command === 'COMMIT') return result;
  throw failure ?? new EngineError('sql', 'The engine rolled the transaction back');
}

async function attempt<T>(session: Session, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (session.isOpen) await session.send({ text: 'ROLLBACK' }, false).catch(() => {});
    throw error;
  }
}

/** COMMIT was not sent: what was lost with the session is not kept. */
function nothingKept(error: EngineError): EngineError {
  if (error.code !== 'unknown_outcome') return error;
  const isLate = error.cause instanceof EngineError && error.cause.code === 'deadline';
  return new EngineError(isLate ? 'deadline' : 'unreachable', error.message, error.sqlstate, error.cause);
}
