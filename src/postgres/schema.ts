import { dailyStatements, dailyTables, statementsOf, type Table } from './daily-schema.ts';
import type { Run } from './statement.ts';

/** The layout of the tables below. A change of them raises it, and comes with a step in `migrations.ts`. */
export const engineLayout = 2;

/** A row that is updated all the time finds room in its own page, and no index has to follow. */
const busy = 'WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)';

/**
 * The tables of an engine, as `flagmeter engine init` makes them, in the first schema of the session's search path. Keys are
 * compared byte by byte, so that every server sorts them alike. Positions, versions, random ids and times in Unix ms are int8.
 */
const tables: readonly Table[] = [
  {
    name: 'fm_engine',
    comment:
      'One row: which engine this is. layout: of these tables; a program older than oldest_layout must not use them',
    columns: `
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      id text NOT NULL,
      layout int NOT NULL,
      oldest_layout int NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      secret text NOT NULL`,
  },
  {
    name: 'fm_head',
    comment:
      'Where each log is: control (accounts) and data (usage). id: random, of the last change or entry',
    columns: `
      log text COLLATE "C" PRIMARY KEY,
      position bigint NOT NULL,
      id bigint NOT NULL`,
    storage: busy,
  },
  {
    name: 'fm_change',
    comment: 'What each version of the accounts has changed; kept for a day',
    columns: `
      version bigint PRIMARY KEY,
      id bigint NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      writes text NOT NULL`,
  },
  {
    name: 'fm_record',
    comment: 'The accounts as they are: JSON by table and key',
    columns: `
      "table" text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      value text NOT NULL,
      PRIMARY KEY ("table", key)`,
    storage: 'WITH (fillfactor = 90)',
  },
  {
    name: 'fm_throttle',
    comment: 'Failed sign-ins in a row, by a hash of what was guessed',
    columns: `
      key text COLLATE "C" PRIMARY KEY,
      failures int NOT NULL DEFAULT 0,
      last_at bigint NOT NULL DEFAULT 0`,
    storage: 'WITH (fillfactor = 50)',
  },
  {
    name: 'fm_stream',
    comment:
      'One row for each run of a node: the last delta of it that is in the log. Rows are marked, never deleted',
    columns: `
      stream text COLLATE "C" PRIMARY KEY,
      directory text COLLATE "C" NOT NULL,
      seq bigint NOT NULL DEFAULT 0,
      digest bytea NOT NULL DEFAULT '',
      through bigint NOT NULL DEFAULT 0,
      since bigint NOT NULL DEFAULT 0,
      version bigint NOT NULL DEFAULT 0,
      state text NOT NULL DEFAULT 'open'`,
    storage: 'WITH (fillfactor = 20)',
  },
  {
    name: 'fm_entry',
    comment: 'The log of usage, in order. The body of an old entry is empty: a snapshot holds what it said',
    columns: `
      position bigint PRIMARY KEY,
      id bigint NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      kind text NOT NULL,
      stream text COLLATE "C",
      seq bigint,
      body bytea`,
  },
  {
    name: 'fm_snapshot',
    comment: 'The usage of a node at a position of the log, for nodes that join',
    columns: `
      snapshot text COLLATE "C" PRIMARY KEY,
      position bigint NOT NULL,
      id bigint NOT NULL,
      state text NOT NULL,
      directory text COLLATE "C" NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      bytes bigint NOT NULL DEFAULT 0`,
  },
  {
    name: 'fm_snapshot_part',
    comment: 'The parts of a snapshot, compressed',
    columns: `
      snapshot text COLLATE "C" NOT NULL,
      part int NOT NULL,
      body bytea NOT NULL,
      PRIMARY KEY (snapshot, part)`,
  },
  {
    name: 'fm_node',
    comment: 'One row for each data directory: who uses it, and how far it is',
    columns: `
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
      state text NOT NULL DEFAULT 'up'`,
    storage: busy,
  },
  {
    // Unused, but nodes of earlier versions read it at each heartbeat.
    name: 'fm_gap',
    comment: 'Stretches of a stream that are known to be lost',
    columns: `
      stream text COLLATE "C" NOT NULL,
      from_seq bigint NOT NULL,
      to_seq bigint,
      from_ms bigint,
      to_ms bigint,
      noticed_at timestamptz NOT NULL DEFAULT now(),
      reason text NOT NULL,
      PRIMARY KEY (stream, from_seq)`,
  },
  {
    name: 'fm_refused',
    comment: 'Rows of deltas that could not be applied',
    columns: `
      stream text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      place text NOT NULL,
      reason text NOT NULL,
      "row" text NOT NULL,
      at timestamptz NOT NULL DEFAULT now()`,
  },
  ...dailyTables,
];

const more = [
  'CREATE INDEX fm_refused_stream ON fm_refused (stream, seq)',
  "CREATE INDEX fm_stream_open ON fm_stream (stream) WHERE state = 'open'",
  // They are compressed already.
  'ALTER TABLE fm_entry ALTER COLUMN body SET STORAGE EXTERNAL',
  'ALTER TABLE fm_snapshot_part ALTER COLUMN body SET STORAGE EXTERNAL',
  "INSERT INTO fm_head (log, position, id) VALUES ('control', 0, 0), ('data', 0, 0)",
  ...dailyStatements,
];

/** The names of the tables. */
export const tableNames: readonly string[] = tables.map(({ name }) => name);

/** What an engine is from its first day on. */
export interface NewEngine {
  readonly id: string;
  /** Of digests of instance ids, as it is to be stored. */
  readonly secret: string;
}

/**
 * Makes all tables, within a transaction. No other lock is needed: of two that do it at the same time, the second waits at the
 * first table, and is refused then.
 */
export async function createTables(run: Run, { id, secret }: NewEngine): Promise<void> {
  const statements = tables.flatMap(statementsOf);
  const values = [id, engineLayout, engineLayout, secret];
  const insert = 'INSERT INTO fm_engine (id, layout, oldest_layout, secret) VALUES ($1, $2, $3, $4)';
  const all = [...[...statements, ...more].map((text) => run({ text })), run({ text: insert, values })];
  await Promise.all(all);
}
