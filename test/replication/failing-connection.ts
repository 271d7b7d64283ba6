import type { Connection, PostgresSession } from '../../src/replication/postgres/connection.ts';
import type { Run, Statement } from '../../src/replication/postgres/session.ts';

/**
 * Returns a connection that is lost after calls for which `isIt` returns true, except when tables are created. The calls
 * are queries, commits, and the points before commits. A statement in a transaction has no number, because PostgreSQL
 * rolls the transaction back wherever it is interrupted.
 */
export function failing(connection: Connection, isIt: (call: number, text: string) => boolean): PostgresSession {
  let calls = -1;
  async function interrupt<T>(text: string, action: () => Promise<T>, isCounted = true): Promise<T> {
    if (/^(CREATE|COMMENT|ALTER)/.test(text)) return action();
    if (isCounted) calls += 1;
    const isLost = isIt(isCounted ? calls : Number.NaN, text);
    const result = await action();
    if (isLost) throw new Error('interrupted');
    return result;
  }
  return {
    query: ((statement: Statement) =>
      interrupt(statement.text, () => connection.query(statement))) as Connection['query'],
    transaction: (work, deadlineMs) =>
      interrupt('BEGIN', () =>
        connection.transaction(async (run) => {
          const watched = (statement: Statement) => interrupt(statement.text, () => run(statement), false);
          const result = await work(watched as Run);
          await interrupt('COMMIT', async () => {});
          return result;
        }, deadlineMs),
      ),
  };
}
