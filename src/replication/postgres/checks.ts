import type { Connection } from './connection.ts';
import {
  noPostgres,
  PostgresEmpty,
  type PostgresError,
  PostgresSetupError,
  throwSetupError,
} from './postgres-error.ts';
import { type PostgresKey, readSecret } from './postgres-key.ts';
import { canCommit, readReplication, whyCommitsMayBeLost } from './replication.ts';
import { dailyViews, postgresLayout, tableNames } from './schema.ts';
import type { Run } from './session.ts';

interface PostgresFacts {
  readonly id: string;
  readonly layout: number;
  readonly oldestLayout: number;
  /** HMAC key for the digests of instance ids, as stored: see `storedSecret`. */
  readonly secret: string;
}

/**
 * Reads the id of a database, and checks that this version may use its tables. Call it for each new session, because
 * another version might have migrated them.
 * @throws {PostgresSetupError} the tables are missing, have an unknown layout, or this role lacks rights on them
 */
export async function checkPostgres(run: Run, own = postgresLayout): Promise<PostgresFacts> {
  const text = 'SELECT id, layout, oldest_layout AS "oldestLayout", secret FROM fm_engine';
  const { rows } = await run<PostgresFacts>({ name: 'fm-engine', text }).catch(throwSetupError);
  const [facts] = rows;
  if (facts === undefined) throw noPostgres();
  const { layout } = facts;
  checkNotLater(facts, own);
  if (own > layout)
    throw new PostgresSetupError(
      `The database has layout ${layout}, and this version needs layout ${own}: run flagmeter postgres migrate first; nodes of the previous version can continue`,
      'The database must be migrated for this version',
    );
  const { user, missing } = await readMissingRights(run);
  if (missing.length > 0)
    throw new PostgresSetupError(
      `The role ${user} lacks rights on ${missing.join(', ')}: make it the owner of the tables, or grant them`,
    );
  return facts;
}

/**
 * Checks that no later version has given the tables a layout that this version cannot use. Accepts a database without
 * tables. Sessions of commands use this check, because some commands create or migrate the tables.
 * @throws {PostgresSetupError} if a later version has done so
 */
export async function refuseLater(run: Run): Promise<void> {
  const text = 'SELECT layout, oldest_layout AS "oldestLayout" FROM fm_engine';
  // Missing tables and rights are not reported here, but by the command.
  const { rows } = await run<Pick<PostgresFacts, 'layout' | 'oldestLayout'>>({ text }).catch(() => ({ rows: [] }));
  for (const facts of rows) checkNotLater(facts, postgresLayout);
}

function checkNotLater({ layout, oldestLayout }: Pick<PostgresFacts, 'layout' | 'oldestLayout'>, own: number): void {
  if (own < oldestLayout)
    throw new PostgresSetupError(
      `The database has layout ${layout} of a newer flagmeter, and this one knows layout ${own}: update flagmeter on this node`,
      'The database needs a newer flagmeter',
    );
}

/** Returns the id that a database has while it is being filled from a replica. */
export const idWhileFilled = (id: string): string => `${id}${beingFilled}`;
const beingFilled = ', which is being filled';

/** Thrown if the database is being filled. It might be usable soon. */
export class FillInProgressError extends PostgresSetupError {}

/**
 * Checks a database as `checkPostgres` does, for the sessions of a node. Also checks that it was not replaced, and
 * returns the secret of digests.
 * @param id id of the database that the directory has used before
 * @throws {PostgresSetupError} also if the database has another id or key file, or is being filled
 */
export async function checkSamePostgres(
  run: Run,
  id: string | undefined,
  key: PostgresKey | undefined,
): Promise<PostgresFacts & { readonly digestSecret: Buffer }> {
  const facts = await checkPostgres(run).catch((error) => {
    throw error instanceof PostgresEmpty ? new PostgresEmpty(id) : error;
  });
  checkNotBeingFilled(facts.id);
  checkId(id, facts.id);
  return { ...facts, digestSecret: readSecret(facts.secret, key) };
}

/** @throws {FillInProgressError} */
export function checkNotBeingFilled(id: string): void {
  if (id.endsWith(beingFilled))
    throw new FillInProgressError(
      `The database is being filled (${id}): if flagmeter postgres adopt --from-replica was interrupted, run it again`,
      'The database is being filled',
    );
}

/** @throws {PostgresSetupError} */
export function checkId(wanted: string | undefined, found: string | null | undefined): void {
  if (wanted === undefined || wanted === found) return;
  throw new PostgresSetupError(
    `This data directory was used with another database (${wanted}, and --postgres has ${found}): correct --postgres. Keep the directory: if that database was lost, the directory can have the last copy of the counts and accounts`,
    'The database is not the database that this node has used',
  );
}

const rightsText = `SELECT current_user AS "user", array(
    SELECT name || ' (' || string_agg("right", ', ') || ')'
    FROM unnest($1::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS "right"
    WHERE NOT has_table_privilege(to_regclass(name), "right") GROUP BY name ORDER BY name) AS missing`;

/** Reads the rights on the tables that the role of the session lacks, such as `fm_head (UPDATE)`. */
export async function readMissingRights(
  run: Run,
): Promise<{ readonly user: string; readonly missing: readonly string[] }> {
  const { rows } = await run<{ user: string; missing: string[] }>({ text: rightsText, values: [tableNames] });
  return rows[0]!;
}

/** Oldest supported major version of the server. */
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
 * @param allowAsynchronous true to accept that a failover can lose commits
 * @throws {PostgresSetupError} the tables cannot be created; nothing was changed
 */
export async function checkPlace(connection: Pick<Connection, 'query'>, allowAsynchronous = false): Promise<void> {
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
    if (isSo) throw new PostgresSetupError(why);
  };
  refuse(isTaken, taken);
  refuse(
    hasViews,
    `The schema ${dailyViews} already has the views of another flagmeter cluster: use a separate database for each cluster`,
  );
  refuse(version < oldestServer, `The server is PostgreSQL ${version}, and flagmeter needs ${oldestServer} or later`);
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
    `A failover of this PostgreSQL can lose acknowledged counts and revocations: ${reason}. Name the standbys that can be promoted in synchronous_standby_names, with the number that must confirm each commit (docs/cluster.md), or accept the loss with --allow-asynchronous. Nothing was changed`,
  );
  refuse(
    !canCommit(replication),
    `Too few standbys of synchronous_standby_names (${replication.synchronousStandbys}) are connected: a commit would wait for them forever. Start them, or correct the setting. Nothing was changed`,
  );
}

const taken = 'The database is already initialised; nothing was changed';

/**
 * Explains why tables could not be created.
 * @throws {PostgresSetupError}
 * @throws {unknown} the error itself, if it has another reason
 */
export function notMade(error: unknown): never {
  const { sqlstate = '' } = error as PostgresError;
  // These codes mean that another process has created, or is creating, a table of the same name.
  if (['42P07', '23505', '42710'].includes(sqlstate)) throw new PostgresSetupError(taken);
  return throwSetupError(error);
}
