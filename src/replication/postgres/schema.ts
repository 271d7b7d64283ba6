import { dailySchema } from './daily-schema.ts';
import type { Run } from './statement.ts';

/** The layout of the tables below. A change increments it, and needs a step in `migrations.ts`. */
export const postgresLayout = 2;

/** For rows with constant updates: they stay in their page, and no index changes. */
const busy = 'WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)';

/**
 * The tables that `flagmeter postgres init` creates, in the first schema of the search path. Keys are compared by bytes, independent of
 * the server's locale. Positions, versions, random ids and times in Unix ms are int8.
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

export const tableNames: readonly string[] = Array.from(
  schema.matchAll(/^CREATE TABLE (\w+)/gm),
  ([, name]) => name!,
);

export interface NewPostgres {
  readonly id: string;
  /** Secret of the digests of instance ids, as stored. */
  readonly secret: string;
}

/** Creates all tables in a transaction. Of two concurrent attempts, the second waits at the first table, and then fails. */
export async function createTables(run: Run, { id, secret }: NewPostgres): Promise<void> {
  const text = 'INSERT INTO fm_engine (id, layout, oldest_layout, secret) VALUES ($1, $2, $3, $4)';
  await Promise.all([
    run({ text: schema }),
    run({ text, values: [id, postgresLayout, postgresLayout, secret] }),
  ]);
}
