import type { ListedThrottle, Throttles } from '../../accounts/store/account-store.ts';
import { postgresAway } from '../../contract/errors.ts';
import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';
import type { PostgresSession } from '../postgres/connection.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import type { QueryResult, Statement } from '../postgres/statement.ts';

/** Counts failed sign-ins of several nodes in a PostgreSQL table. */
export function postgresThrottles(connection: PostgresSession): Throttles {
  return {
    change: (keys, decide) =>
      answerOf(
        connection.transaction(async (run) => {
          const found = listed(await run(lockRows([...keys].sort())));
          const made = found.filter(({ failures }) => failures.lastAt > 0); // Others exist only to be locked.
          const kept = new Map(made.map(({ key, failures }) => [key, failures]));
          const result = decide({
            get: (key) => kept.get(key),
            put: (key, failures) => void kept.set(key, failures),
            remove: (key) => void kept.delete(key),
          });
          void run(keepRows(keys, kept));
          return result;
        }),
      ),
    list: async (after, limit) => listed(await answerOf(connection.query(listRows(after, limit)))),
  };
}

/** @throws {ApiError} `engine_unavailable` */
async function answerOf<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof PostgresError ? postgresAway() : error;
  }
}

/** Locks rows, and creates missing ones, since only an existing row can be locked. All nodes use the same order, against deadlocks. */
function lockRows(keys: string[]): Statement {
  return {
    name: 'fm_throttle_lock',
    text: `INSERT INTO fm_throttle (key) SELECT k FROM unnest($1::text[]) AS k
ON CONFLICT (key) DO UPDATE SET failures = fm_throttle.failures RETURNING key, failures, last_at`,
    values: [keys],
  };
}

function keepRows(keys: readonly string[], kept: ReadonlyMap<string, LoginFailures>): Statement {
  const rows = [...kept.values()];
  return {
    name: 'fm_throttle_keep',
    text: `WITH gone AS (DELETE FROM fm_throttle WHERE key = ANY($1::text[]) AND key <> ALL($2::text[]))
UPDATE fm_throttle t SET failures = w.failures, last_at = w.last_at
FROM unnest($2::text[], $3::int[], $4::int8[]) AS w(key, failures, last_at)
WHERE t.key = w.key AND (t.failures, t.last_at) <> (w.failures, w.last_at)`,
    values: [
      ...[keys, [...kept.keys()]],
      ...[rows.map(({ failures }) => failures), rows.map(({ lastAt }) => lastAt)],
    ],
  };
}

function listRows(after: string, limit: number): Statement {
  const text = 'SELECT key, failures, last_at FROM fm_throttle WHERE key > $1 ORDER BY key LIMIT $2';
  return { name: 'fm_throttle_list', text, values: [after, limit] };
}

function listed({ rows }: QueryResult): readonly ListedThrottle[] {
  return rows.map(({ key, failures, last_at }) => ({
    key: String(key),
    failures: { failures: Number(failures), lastAt: Number(last_at) },
  }));
}
