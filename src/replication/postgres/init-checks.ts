import type { Connection } from './connection.ts';
import { dailyViews } from './daily-schema.ts';
import { type PostgresError, PostgresUnfit, unfit } from './postgres-error.ts';
import { canCommit, readReplication, whyCommitsMayBeLost } from './replication.ts';

/** The major version. */
export const oldestServer = 15;

interface Place {
  readonly isTaken: boolean;
  readonly schema: string | null;
  readonly mayCreate: boolean | null;
  readonly mayCreateViews: boolean;
  readonly hasViews: boolean;
  readonly version: number;
  readonly encoding: string;
  readonly user: string;
}

/**
 * Checks that the tables can be created in a database.
 * @param allowAsynchronous accepts that a failover may lose commits
 * @throws {PostgresUnfit} they cannot; nothing was changed
 */
export async function checkPlace(
  connection: Pick<Connection, 'query'>,
  allowAsynchronous = false,
): Promise<void> {
  const { rows } = await connection.query<Place>({
    text: `SELECT to_regclass('fm_engine') IS NOT NULL AS "isTaken", current_schema() AS schema,
             has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
             CASE WHEN to_regnamespace('${dailyViews}') IS NULL THEN has_database_privilege(current_database(), 'CREATE')
               ELSE has_schema_privilege('${dailyViews}', 'CREATE') END AS "mayCreateViews",
             to_regclass('${dailyViews}.daily_usage') IS NOT NULL AS "hasViews", current_user AS "user",
             current_setting('server_encoding') AS encoding,
             current_setting('server_version_num')::int / 10000 AS version`,
  });
  const { isTaken, schema, mayCreate, mayCreateViews, hasViews, version, encoding, user } = rows[0] as Place;
  const refuse = (isSo: boolean, why: string) => {
    if (isSo) throw new PostgresUnfit(why);
  };
  refuse(isTaken, taken);
  refuse(
    hasViews,
    `The schema ${dailyViews} has the views of another flagmeter cluster: use a separate database for each cluster`,
  );
  refuse(
    version < oldestServer,
    `The server is PostgreSQL ${version}, and flagmeter needs ${oldestServer} or later`,
  );
  refuse(
    encoding !== 'UTF8',
    `The database has the encoding ${encoding}, which cannot store every name: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
  );
  refuse(schema === null, 'The search_path of the session names no existing schema: create the schema first');
  refuse(
    !mayCreate,
    `The role ${user} may not create tables in the schema ${schema}: GRANT CREATE ON SCHEMA ${schema} TO ${user}, or let it own the database`,
  );
  refuse(
    !mayCreateViews,
    `The role ${user} may not create the schema ${dailyViews}: CREATE SCHEMA ${dailyViews} AUTHORIZATION ${user}, or let it own the database`,
  );
  const replication = await readReplication((statement) => connection.query(statement));
  const reason = allowAsynchronous ? undefined : whyCommitsMayBeLost(replication);
  refuse(
    reason !== undefined,
    `A failover of this PostgreSQL can lose acknowledged counts and revocations: ${reason}. Name the standbys that may be promoted, and as many as are needed (docs/cluster.md), or accept the loss with --allow-asynchronous. Nothing was changed`,
  );
  refuse(
    !canCommit(replication),
    `Too few standbys of synchronous_standby_names (${replication.synchronousStandbys}) are connected: a commit would wait for them forever. Start them, or correct the setting. Nothing was changed`,
  );
}

const taken = 'The database is already initialised; nothing was changed';

/**
 * Explains why tables could not be created.
 * @throws {PostgresUnfit}
 * @throws {unknown} the error itself, if the reason is another
 */
export function notMade(error: unknown): never {
  const { sqlstate = '' } = error as PostgresError;
  // Another process has created, or is creating, a table of the same name.
  if (['42P07', '23505', '42710'].includes(sqlstate)) throw new PostgresUnfit(taken);
  return unfit(error);
}
