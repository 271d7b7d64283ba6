import type { Connection } from './connection.ts';
import { noPostgres, PostgresSetupError, throwSetupError } from './postgres-error.ts';
import type { Run } from './session.ts';

/** Number of the layout of the tables below. A change of the tables increments it, and needs a step in `migrations`. */
export const postgresLayout = 2;

export const dailyViews = 'flagmeter_reports';

/**
 * The columns that all views select, with the current names of teams, applications and environments. Due to
 * security_barrier, functions in a reader's query cannot see the other data that the views read.
 */
const shown = `WITH environments AS (
    SELECT (environment->>'number')::bigint AS environment, team.value::jsonb->>'name' AS team,
      application.value::jsonb->>'id' AS application_id, application.value::jsonb->>'name' AS application,
      environment->>'name' AS environment_name
    FROM fm_record AS application CROSS JOIN jsonb_array_elements(application.value::jsonb->'environments') AS environment
      LEFT JOIN fm_record AS team ON team."table" = 'teams' AND team.key = application.value::jsonb->>'teamId'
    WHERE application."table" = 'applications')
  SELECT environments.team, environments.application_id, environments.application,
    environments.environment_name AS environment, daily.feature`;
const source = `FROM fm_daily AS daily JOIN fm_day AS written USING (environment, day) JOIN environments USING (environment)
  WHERE written.position > 0`;

/**
 * Usage by days, for programs that read SQL. Nodes fill these tables from their replicas: see
 * replication/daily-export.ts. If the role of flagmeter lacks the right to create the schema of the views, the schema
 * must already exist.
 */
const dailySchema = `
CREATE TABLE fm_daily (
  environment bigint NOT NULL,
  day date NOT NULL,
  feature text COLLATE "C" NOT NULL,
  variant text COLLATE "C" NOT NULL,
  checks bigint NOT NULL,
  used bigint NOT NULL,
  viewed bigint NOT NULL,
  users bigint NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (environment, day, feature, variant)
);
COMMENT ON TABLE fm_daily IS 'What each series counted on a day, as a replica at a position of the log had it. The variant is empty for a feature as a whole';

CREATE TABLE fm_day (
  environment bigint NOT NULL,
  day date NOT NULL,
  position bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (environment, day)
);
COMMENT ON TABLE fm_day IS 'The position at which all rows of a day of an environment were written; 0 before the first time';

CREATE TABLE fm_export (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint NOT NULL DEFAULT 0,
  day date NOT NULL DEFAULT '1970-01-01',
  holder text NOT NULL DEFAULT '',
  until timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10);
COMMENT ON TABLE fm_export IS 'One row: days up to this one are written, with all that the log says up to this position. holder: the directory whose node writes';

INSERT INTO fm_export DEFAULT VALUES;
DO $$ BEGIN
     IF to_regnamespace('${dailyViews}') IS NULL THEN CREATE SCHEMA ${dailyViews}; END IF;
   END $$;
CREATE VIEW ${dailyViews}.daily_usage WITH (security_barrier) AS ${shown}, daily.variant, daily.day,
     daily.checks, daily.used, daily.viewed, daily.users ${source} AND daily.variant <> '';
COMMENT ON VIEW ${dailyViews}.daily_usage IS 'What each variant counted on each day (UTC) that is over';
CREATE VIEW ${dailyViews}.daily_features WITH (security_barrier) AS ${shown}, daily.day,
     daily.checks, daily.used, daily.viewed, daily.users ${source} AND daily.variant = '';
COMMENT ON VIEW ${dailyViews}.daily_features IS 'What all variants of each feature counted on each day (UTC) that is over';`;

/** Storage parameters of tables with many updates. Updated rows stay in their page, so no index changes. */
const busy = 'WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)';

/**
 * The tables that `flagmeter postgres init` creates, in the first schema of the search path. Keys are compared by
 * bytes, independent of the server's locale. Positions, versions, random ids and times in Unix ms are int8.
 */
const schema = `
CREATE TABLE fm_engine (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  id text NOT NULL,
  layout int NOT NULL,
  oldest_layout int NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  secret text NOT NULL
);
COMMENT ON TABLE fm_engine IS 'One row: which engine this is. layout: of these tables; a program older than oldest_layout must not use them';

CREATE TABLE fm_head (
  log text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL,
  id bigint NOT NULL
) ${busy};
COMMENT ON TABLE fm_head IS 'Where each log is: control (accounts) and data (usage). id: random, of the last change or entry';

CREATE TABLE fm_change (
  version bigint PRIMARY KEY,
  id bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  writes text NOT NULL
);
COMMENT ON TABLE fm_change IS 'What each version of the accounts has changed; kept for a day';

CREATE TABLE fm_record (
  "table" text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY ("table", key)
) WITH (fillfactor = 90);
COMMENT ON TABLE fm_record IS 'The accounts as they are: JSON by table and key';

CREATE TABLE fm_throttle (
  key text COLLATE "C" PRIMARY KEY,
  failures int NOT NULL DEFAULT 0,
  last_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE fm_throttle IS 'Failed sign-ins in a row, by a hash of what was guessed';

CREATE TABLE fm_stream (
  stream text COLLATE "C" PRIMARY KEY,
  directory text COLLATE "C" NOT NULL,
  seq bigint NOT NULL DEFAULT 0,
  digest bytea NOT NULL DEFAULT '',
  through bigint NOT NULL DEFAULT 0,
  since bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  state text NOT NULL DEFAULT 'open'
) WITH (fillfactor = 20);
COMMENT ON TABLE fm_stream IS 'One row for each run of a node: the last delta of it that is in the log. Rows are marked, never deleted';

CREATE TABLE fm_entry (
  position bigint PRIMARY KEY,
  id bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  kind text NOT NULL,
  stream text COLLATE "C",
  seq bigint,
  body bytea
);
COMMENT ON TABLE fm_entry IS 'The log of usage, in order. The body of an old entry is empty: a snapshot holds what it said';

CREATE TABLE fm_snapshot (
  snapshot text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL,
  id bigint NOT NULL,
  state text NOT NULL,
  directory text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  bytes bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE fm_snapshot IS 'The usage of a node at a position of the log, for nodes that join';

CREATE TABLE fm_snapshot_part (
  snapshot text COLLATE "C" NOT NULL,
  part int NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (snapshot, part)
);
COMMENT ON TABLE fm_snapshot_part IS 'The parts of a snapshot, compressed';

CREATE TABLE fm_node (
  directory text COLLATE "C" PRIMARY KEY,
  name text NOT NULL DEFAULT '',
  stream text COLLATE "C",
  version text NOT NULL DEFAULT '',
  beat_at timestamptz NOT NULL DEFAULT now(),
  layout int NOT NULL DEFAULT 1,
  applied bigint NOT NULL DEFAULT 0,
  control bigint NOT NULL DEFAULT 0,
  spool_bytes bigint NOT NULL DEFAULT 0,
  oldest_unshipped bigint,
  through bigint NOT NULL DEFAULT 0,
  skew_ms int NOT NULL DEFAULT 0,
  state text NOT NULL DEFAULT 'up'
) ${busy};
COMMENT ON TABLE fm_node IS 'One row for each data directory: who uses it, and how far it is';

-- Unused, but nodes of earlier versions read it at each heartbeat.
CREATE TABLE fm_gap (
  stream text COLLATE "C" NOT NULL,
  from_seq bigint NOT NULL,
  to_seq bigint,
  from_ms bigint,
  to_ms bigint,
  noticed_at timestamptz NOT NULL DEFAULT now(),
  reason text NOT NULL,
  PRIMARY KEY (stream, from_seq)
);
COMMENT ON TABLE fm_gap IS 'Stretches of a stream that are known to be lost';

CREATE TABLE fm_refused (
  stream text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  place text NOT NULL,
  reason text NOT NULL,
  "row" text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE fm_refused IS 'Rows of deltas that could not be applied';

CREATE INDEX fm_refused_stream ON fm_refused (stream, seq);
CREATE INDEX fm_stream_open ON fm_stream (stream) WHERE state = 'open';
-- They are compressed already.
ALTER TABLE fm_entry ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE fm_snapshot_part ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO fm_head (log, position, id) VALUES ('control', 0, 0), ('data', 0, 0);
${dailySchema}`;

export const tableNames: readonly string[] = Array.from(schema.matchAll(/^CREATE TABLE (\w+)/gm), ([, name]) => name!);

export interface NewPostgres {
  readonly id: string;
  /** HMAC key for the digests of instance ids, as stored: see `storedSecret`. */
  readonly secret: string;
}

/** Creates all tables in a transaction. Of two concurrent attempts, the later attempt waits, and then fails. */
export async function createTables(run: Run, { id, secret }: NewPostgres): Promise<void> {
  const text = 'INSERT INTO fm_engine (id, layout, oldest_layout, secret) VALUES ($1, $2, $3, $4)';
  await Promise.all([run({ text: schema }), run({ text, values: [id, postgresLayout, postgresLayout, secret] })]);
}

/** A step from the previous layout to `layout`. */
export interface Migration {
  readonly layout: number;
  /** Versions that know this layout can use the tables after the step. */
  readonly oldestLayout: number;
  readonly statements: readonly string[];
}

/** All steps, in order. Added tables, indexes, and columns with defaults do not exclude old versions. */
const migrations: readonly Migration[] = [{ layout: 2, oldestLayout: 1, statements: [dailySchema] }];

/** A node whose last heartbeat is younger than this counts as running. */
const aliveMs = 10_000;

/**
 * Migrates the tables to the latest layout, in one transaction. Nodes can run during the migration, unless a step
 * excludes their version.
 * @param steps in order; the last step results in the layout `target`
 * @throws {PostgresSetupError} the tables are missing, their layout is newer, or running nodes would be excluded
 */
export function migrate(
  connection: Connection,
  steps = migrations,
  target = postgresLayout,
): Promise<{ readonly from: number; readonly to: number }> {
  const migrated = connection.transaction(async (run) => {
    const { rows } = await run<{ layout: number }>({ text: 'SELECT layout FROM fm_engine FOR UPDATE' }).catch(
      throwSetupError,
    );
    const from = rows[0]?.layout;
    if (from === undefined) throw noPostgres();
    if (from > target)
      throw new PostgresSetupError(
        `The database has layout ${from}, and this version knows layouts up to ${target}: use a newer flagmeter`,
      );
    const due = steps.filter(({ layout }) => layout > from);
    const oldest = Math.max(0, ...due.map(({ oldestLayout }) => oldestLayout));
    await refuseToLeaveBehind(run, oldest);
    for (const { layout, oldestLayout, statements } of due) {
      for (const text of statements) void run({ text });
      void run({ text: 'UPDATE fm_engine SET layout = $1, oldest_layout = $2', values: [layout, oldestLayout] });
    }
    return { from, to: due.at(-1)?.layout ?? from };
  });
  return migrated.catch(throwSetupError);
}

async function refuseToLeaveBehind(run: Run, oldest: number): Promise<void> {
  const { rows } = await run<{ name: string; version: string }>({
    text: `SELECT name, version FROM fm_node
           WHERE layout < $1 AND state = 'up' AND beat_at > clock_timestamp() - $2 * interval '1 ms' ORDER BY name`,
    values: [oldest, aliveMs],
  });
  if (rows.length === 0) return;
  const nodes = rows.map(({ name, version }) => `${name} (flagmeter ${version})`).join(', ');
  throw new PostgresSetupError(
    `These nodes run a version that cannot use the new tables: ${nodes}; stop them first, then migrate again`,
  );
}
