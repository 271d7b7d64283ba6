import type { Connection, PostgresSession } from '../../src/replication/postgres/connection.ts';
import type { Run, Statement } from '../../src/replication/postgres/session.ts';

/** Returns a connection that is lost after calls for which `isIt` returns true, except when tables are created. */
export function failing(connection: Connection, isIt: (call: number, text: string) => boolean): PostgresSession {
  let calls = -1;
  async function interrupt<T>(text: string, action: () => Promise<T>): Promise<T> {
    if (/^(CREATE|COMMENT|ALTER)/.test(text)) return action();
    calls += 1;
    const isLost = isIt(calls, text);
    const result = await action();
    if (isLost) throw new Error('interrupted');
    return result;
  }
  return {
    query: ((statement: Statement) =>
      interrupt(statement.text, () => connection.query(statement))) as Connection['query'],
    transaction: (work, deadlineMs) =>
      interrupt('BEGIN', () =>
        connection.transaction((run) => {
          const watched = (statement: Statement) => interrupt(statement.text, () => run(statement));
          return work(watched as Run);
        }, deadlineMs),
      ),
  };
}
