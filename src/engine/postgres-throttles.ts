import { engineAway } from '../errors.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { QueryResult, Statement } from '../postgres/statement.ts';
import type { LoginFailures } from '../store/auth-records.ts';
import type { ListedThrottle, ThrottleDraft, Throttles } from './throttles.ts';

/** Counts in a table of the engine, by rows of their own: for several nodes. */
export class PostgresThrottles implements Throttles {
  readonly #connection: EngineSession;

  constructor(connection: EngineSession) {
    this.#connection = connection;
  }

  change<T>(keys: readonly string[], decide: (draft: ThrottleDraft) => T): Promise<T> {
    return this.#asking(
      this.#connection.transaction(async (run) => {
        const found = new Map(
          listed(await run(lockRows([...keys].sort()))).map((each) => [each.key, each.failures]),
        );
        const written = new Map<string, LoginFailures | undefined>();
        const kept = (key: string) => (written.has(key) ? written.get(key) : known(found.get(key)));
        const result = decide({
          get: kept,
          put: (key, failures) => void written.set(key, failures),
          remove: (key) => void written.set(key, undefined),
        });
        const gone = keys.filter((key) => kept(key) === undefined);
        if (gone.length > 0) void run(removeRows(gone));
        if (written.size > 0) void run(updateRows(written));
        return result;
      }),
    );
  }

  async list(after: string, limit: number): Promise<readonly ListedThrottle[]> {
    return listed(await this.#asking(this.#connection.query(listRows(after, limit))));
  }

  /** @throws {ApiError} `engine_unavailable` */
  async #asking<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw error instanceof EngineError ? engineAway() : error;
    }
  }
}

/** Locks rows, and makes those that are missing: only a row that is there can be locked. The same order everywhere, so that none wait for each other. */
function lockRows(keys: string[]): Statement {
  return {
    name: 'fm_throttle_lock',
    text: `INSERT INTO fm_throttle (key) SELECT k FROM unnest($1::text[]) AS k
ON CONFLICT (key) DO UPDATE SET failures = fm_throttle.failures RETURNING key, failures, last_at`,
    values: [keys],
  };
}

function removeRows(keys: string[]): Statement {
  const text = 'DELETE FROM fm_throttle WHERE key = ANY($1::text[])';
  return { name: 'fm_throttle_remove', text, values: [keys] };
}

function updateRows(written: ReadonlyMap<string, LoginFailures | undefined>): Statement {
  const rows = [...written].flatMap(([key, value]) => (value === undefined ? [] : [{ key, ...value }]));
  return {
    name: 'fm_throttle_update',
    text: `UPDATE fm_throttle t SET failures = w.failures, last_at = w.last_at
FROM unnest($1::text[], $2::int[], $3::int8[]) AS w(key, failures, last_at) WHERE t.key = w.key`,
    values: [
      rows.map(({ key }) => key),
      rows.map(({ failures }) => failures),
      rows.map(({ lastAt }) => lastAt),
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

/** A row that was made to be locked says nothing. */
function known(found: LoginFailures | undefined): LoginFailures | undefined {
  return found === undefined || found.lastAt === 0 ? undefined : found;
}
