import { oldestServer, readMissingRights } from './checks.ts';
import type { Connection } from './connection.ts';
import { noPostgres, throwSetupError } from './postgres-error.ts';
import { canCommit, type Replication, readReplication, whyCommitsMayBeLost } from './replication.ts';
import type { Run } from './session.ts';
import { whySkewed } from './shared-clock.ts';

/** State of a database and its nodes at one time. */
export interface PostgresReport {
  readonly engine: PostgresSelf;
  readonly server: ServerFacts;
  readonly nodes: readonly NodeReport[];
  /** Numbers of closed streams, and a list of the open streams. */
  readonly streams: { readonly done: number; readonly forgotten: number; readonly open: readonly StreamReport[] };
  /** Last positions of the two logs: versions of the accounts (`control`), and entries of usage (`data`). */
  readonly heads: { readonly control: number; readonly data: number };
  readonly log: LogLength;
  readonly snapshots: readonly SnapshotReport[];
  readonly refused: { readonly rows: number; readonly latest: readonly RefusedReport[] };
}

interface PostgresSelf {
  readonly id: string;
  readonly layout: number;
  readonly oldestLayout: number;
  readonly createdAt: Date;
  readonly encrypted: boolean;
}

export interface ServerFacts extends Replication {
  readonly version: string;
  readonly major: number;
  readonly now: Date;
  readonly user: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** `synchronous_commit` of this role. Nodes set it to `on` in each session. */
  readonly synchronousCommit: string;
  /** Missing rights on tables, such as `fm_head (UPDATE)`. */
  readonly missingRights: readonly string[];
}

export interface NodeReport {
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  readonly layout: number;
  /** `silent`: not deregistered, and without a heartbeat for more than ten seconds. */
  readonly state: 'up' | 'silent' | 'done' | 'forgotten';
  /** Reason why a process of this directory responds to packets with 503. */
  readonly refuses: Exclude<Condition, 'ok' | 'behind'> | null;
  /** True if the node ships nothing because PostgreSQL reverted to an earlier state. */
  readonly holds: boolean;
  readonly lastBeat: Date;
  /** Number of log entries not applied yet. */
  readonly behind: number;
  /** True if the node is up, and has not applied an entry that is several seconds old. */
  readonly isLagging: boolean;
  readonly accountsBehind: number;
  readonly spoolBytes: number;
  /** Time of the node's oldest unshipped packet. */
  readonly unshippedSince: Date | null;
  /** All packets that the node acknowledged before this time are in the log; `null` if it has no open stream. */
  readonly shippedUntil: Date | null;
  /** Number of open streams of the node that do not belong to the current process. */
  readonly earlierStreams: number;
  readonly skewMs: number;
}

export interface LogLength {
  /** Number of entries with bodies, and the size of these bodies. */
  readonly entries: number;
  readonly bytes: number;
  /** Time and position of the oldest entry with a body; `null` if no entry has a body. */
  readonly since: Date | null;
  readonly first: number | null;
  /** Number of trimmed entries, which keep only their ids. */
  readonly ids: number;
}

interface StreamReport {
  readonly stream: string;
  readonly directory: string;
  readonly seq: number;
  readonly through: Date;
}

interface SnapshotReport {
  readonly position: number;
  readonly state: string;
  readonly at: Date;
  readonly bytes: number;
}

interface RefusedReport {
  readonly stream: string;
  readonly place: string;
  readonly reason: string;
  readonly at: Date;
}

/** Time without a heartbeat after which a node counts as stopped. */
export const silentAfterMs = 10_000;

/** A node is lagging if it has not applied an entry of this age. The node might still be receiving a younger entry. */
const laggingAfterMs = 5000;

/** Number of characters of the directory's id in the name of a session. PostgreSQL truncates longer names. */
const directoryShown = 16;

/**
 * The condition of a process.
 * - `closed`: it was forgotten while running, and refuses packets
 * - `copied`: several processes use the directory or copies of it, and this process refuses packets
 * - `full`, `store`: its spool is full, or its store cannot take data, so it refuses packets
 * - `behind`: it counts, and ships nothing, because PostgreSQL reverted to an earlier state
 */
export type Condition = 'ok' | 'closed' | 'copied' | 'full' | 'store' | 'behind';

const sessionPrefix = 'flagmeter log ';

/**
 * Name of the session that sends heartbeats. The number of these sessions shows whether processes share a directory.
 * The name contains the condition, because the tables of earlier versions have no column for it.
 */
export function logSession(
  { directory, name }: { readonly directory: string; readonly name: string },
  condition: Condition = 'ok',
): string {
  return `${sessionPrefix}${directory.slice(0, directoryShown)} [${condition}] ${name}`;
}

const time = (column: string) => `to_timestamp(nullif(${column}, 0) / 1000.0)`;

const self = `SELECT id, layout, oldest_layout AS "oldestLayout", created_at AS "createdAt",
  secret LIKE 'sealed:%' AS encrypted FROM fm_engine`;

const server = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, clock_timestamp() AS now,
  current_setting('server_version_num')::int / 10000 AS major, current_user AS "user", current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS "fullPageWrites",
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS "synchronousCommit"`;

const nodes = `SELECT directory, name, version, layout, beat_at AS "lastBeat",
  CASE WHEN state = 'up' AND NOT beats THEN 'silent' ELSE state END AS state,
  CASE WHEN state = 'forgotten' AND beats THEN 'closed' WHEN processes > 1 THEN 'copied'
    WHEN beats AND condition IN ('closed', 'copied', 'full', 'store') THEN condition END AS refuses,
  coalesce(beats AND condition = 'behind', false) AS holds,
  (SELECT greatest(position - applied, 0)::float8 FROM fm_head WHERE log = 'data') AS behind,
  state = 'up' AND beats AND applied < (SELECT position FROM fm_head WHERE log = 'data') AND NOT EXISTS (SELECT 1 FROM fm_entry
      WHERE position = applied + 1 AND at >= clock_timestamp() - $2 * interval '1 ms') AS "isLagging",
  (SELECT greatest(position - control, 0)::float8 FROM fm_head WHERE log = 'control') AS "accountsBehind",
  spool_bytes::float8 AS "spoolBytes", ${time('oldest_unshipped')} AS "unshippedSince", skew_ms AS "skewMs",
  open."shippedUntil", open."earlierStreams"
  FROM fm_node AS n CROSS JOIN LATERAL (SELECT to_timestamp(min(through) / 1000.0) AS "shippedUntil",
      (count(*) FILTER (WHERE s.stream IS DISTINCT FROM n.stream))::int AS "earlierStreams"
      FROM fm_stream AS s WHERE s.directory = n.directory AND s.state = 'open') AS open
    CROSS JOIN LATERAL (SELECT clock_timestamp() - $1 * interval '1 ms' AS since) AS s
    CROSS JOIN LATERAL (SELECT beat_at >= since AS beats) AS b
    CROSS JOIN LATERAL (SELECT count(*) AS processes, max(substring(application_name FROM '^${sessionPrefix}\\S+ \\[(\\w+)\\]')) AS condition
      FROM pg_stat_activity WHERE datname = current_database() AND state_change >= since
        AND starts_with(application_name, '${sessionPrefix}' || left(directory, ${directoryShown}))) AS alive
  ORDER BY name, directory`;

const openStreams = `SELECT stream, directory, seq::float8 AS seq, to_timestamp(through / 1000.0) AS through
  FROM fm_stream WHERE state = 'open' ORDER BY through, stream`;

const counts = `SELECT (SELECT count(*)::int FROM fm_stream WHERE state = 'done') AS done,
  (SELECT count(*)::int FROM fm_stream WHERE state = 'forgotten') AS forgotten,
  (SELECT position::float8 FROM fm_head WHERE log = 'control') AS control,
  (SELECT position::float8 FROM fm_head WHERE log = 'data') AS data,
  (SELECT count(*)::float8 FROM fm_refused) AS refused`;

const snapshots = `SELECT position::float8 AS position, state, at, bytes::float8 AS bytes FROM fm_snapshot ORDER BY at DESC`;

const latestRefusals = 'SELECT stream, place, reason, at FROM fm_refused ORDER BY at DESC LIMIT 5';

type Counts = Readonly<Record<'done' | 'forgotten' | 'control' | 'data' | 'refused', number>>;

const logLength = `SELECT count(body)::float8 AS entries, coalesce(sum(octet_length(body)), 0)::float8 AS bytes,
  min(at) FILTER (WHERE body IS NOT NULL) AS since, (min(position) FILTER (WHERE body IS NOT NULL))::float8 AS first,
  (count(*) - count(body))::float8 AS ids FROM fm_entry`;

/** Reads the length of the log. The query scans the whole log. */
export async function readLogLength(run: Run): Promise<LogLength> {
  const { rows } = await run<LogLength>({ name: 'fm-log-length', text: logLength });
  return rows[0]!;
}

/**
 * Reads the report that `flagmeter postgres status` shows.
 * @throws {PostgresSetupError} the tables are missing, or this role may not read them
 */
export function readPostgres(connection: Connection): Promise<PostgresReport> {
  return connection.transaction(async (run) => {
    const rows = async <Row>(text: string, ...values: number[]): Promise<Row[]> =>
      (await run<Row>({ text, values })).rows;
    await run({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    const [engine] = await rows<PostgresSelf>(self).catch(throwSetupError);
    if (engine === undefined) throw noPostgres();
    const { missing: missingRights } = await readMissingRights(run);
    const [facts] = await rows<ServerFacts>(server);
    const replication = await readReplication(run);
    const all = Promise.all([
      rows<Counts>(counts),
      readLogLength(run),
      rows<NodeReport>(nodes, silentAfterMs, laggingAfterMs),
      rows<StreamReport>(openStreams),
      rows<SnapshotReport>(snapshots),
      rows<RefusedReport>(latestRefusals),
    ]);
    const [[count], log, nodesFound, open, snapshotsFound, latest] = await all.catch(throwSetupError);
    const { done, forgotten, control, data, refused } = count!;
    return {
      engine,
      nodes: nodesFound,
      snapshots: snapshotsFound,
      log,
      server: { ...facts!, ...replication, missingRights },
      streams: { done, forgotten, open },
      heads: { control, data },
      refused: { rows: refused, latest },
    };
  });
}

/**
 * Returns warnings about the setup and the nodes.
 * @param skewMs lead of this machine's clock over PostgreSQL's clock
 */
export function postgresWarnings(report: PostgresReport, skewMs: number): string[] {
  const { server, nodes } = report;
  return [ofSecrets(report), ofServer(server), whySkewed(skewMs) ?? [], nodes.flatMap(ofNode), ofLog(report)].flat();
}

function ofSecrets({ engine: { encrypted } }: PostgresReport): string[] {
  return when(
    !encrypted,
    'The signing keys and other secrets are stored in clear text: stop all nodes, run flagmeter postgres encrypt --postgres-key-file FILE, and start each node with the same option',
  );
}

function ofServer(server: ServerFacts): string[] {
  const { version, major, user, synchronousCommit, missingRights } = server;
  const missing = missingRights.join(', ');
  return [
    ...when(major < oldestServer, `The server is PostgreSQL ${version}; use ${oldestServer} or later`),
    ...when(server.fsync !== 'on', 'fsync is off: a power cut can destroy the database; turn it on'),
    ...when(
      server.fullPageWrites !== 'on',
      'full_page_writes is off: a power cut can destroy the database; turn it on',
    ),
    ...when(
      synchronousCommit === 'off' || synchronousCommit === 'local',
      `synchronous_commit is ${synchronousCommit} by default; flagmeter sets it to on in its own sessions, but other programs might not`,
    ),
    ...when(missing !== '', `The role ${user} lacks rights on ${missing}; make it the owner of the tables`),
    ...ofStandbys(server),
  ];
}

function ofStandbys(server: ServerFacts): string[] {
  const { synchronousStandbys } = server;
  const reason = whyCommitsMayBeLost(server);
  if (reason !== undefined)
    return [
      `A failover can lose acknowledged accounts, sessions and revocations: ${reason}. Counts of the last hour are shipped again`,
    ];
  if (synchronousStandbys.trim() === '')
    return ['PostgreSQL has no standby: if its disk is lost, all data since the last backup is lost'];
  return when(
    !canCommit(server),
    `Too few standbys of synchronous_standby_names (${synchronousStandbys}) are connected: commits and changes wait for more standbys`,
  );
}

const refusalWarnings: Readonly<Record<NonNullable<NodeReport['refuses']>, (name: string) => string>> = {
  closed: (name: string) =>
    `Node ${name} was forgotten but is running: it responds to packets with 503 until it is restarted`,
  copied: (name: string) =>
    `Several processes use the data directory of node ${name} or copies of it: all processes but one respond to packets with 503. Stop these processes, keep their directories, and start nodes with empty directories in their place`,
  full: (name: string) =>
    `Node ${name} refuses packets: its spool is full. Its log says why it does not ship. Fix the cause, or raise --spool-max`,
  store: (name: string) => `Node ${name} refuses packets: its store cannot take data; see its log`,
};

function ofNode(node: NodeReport): string[] {
  const { name, state, lastBeat, skewMs, shippedUntil, isLagging, behind } = node;
  const isLate = shippedUntil !== null && lastBeat.getTime() - shippedUntil.getTime() > lateAfterMs;
  const refusal = node.refuses === null ? [] : refusalWarnings[node.refuses](name);
  const lag = `Reports of node ${name} are not complete: it has not applied ${behind} entries of the log; see its log if the number does not fall`;
  if (state === 'up') {
    const held = node.holds
      ? `Node ${name} counts but ships nothing: PostgreSQL is older than what it keeps; see its log`
      : [];
    const late = isLate && !node.holds ? whyLate(node, shippedUntil) : [];
    return [refusal, whySkewed(skewMs, `node ${name}`) ?? [], when(isLagging, lag), held, late].flat();
  }
  if (state !== 'silent' || shippedUntil === null) return [refusal].flat();
  return [
    `Node ${name} has sent no heartbeat since ${lastBeat.toISOString()}, so reports are ${completeUntil(shippedUntil)}: start it again, or, if it is lost permanently, run flagmeter postgres forget-node ${name}`,
  ];
}

/** Delay of shipping above which a node causes a warning. */
const lateAfterMs = 60_000;

function whyLate({ name, earlierStreams }: NodeReport, shippedUntil: Date): string {
  const reports = `Reports are ${completeUntil(shippedUntil)}:`;
  if (earlierStreams === 0) return `${reports} node ${name} has not shipped its later counts; see its log`;
  const streams = earlierStreams === 1 ? 'a stream' : `${earlierStreams} streams`;
  return `${reports} ${streams} of another process of node ${name}, or of a copy of its directory, can have more counts. If that does not change within a minute, see its log; flagmeter postgres forget-node ${name} stops waiting for them, and the node continues`;
}

function completeUntil(shippedUntil: Date): string {
  return shippedUntil.getTime() === 0 ? 'not complete' : `complete only until ${shippedUntil.toISOString()}`;
}

/** Untrimmed entries of this age cause a warning. Nodes usually trim an entry within 70 minutes of a snapshot. */
const trimmedWithinMs = 2 * 3_600_000;

function ofLog({ server, log: { since, first }, snapshots }: PostgresReport): string[] {
  const newest = snapshots.find(({ state }) => state === 'whole');
  if (since === null || first === null || newest === undefined || first > newest.position) return [];
  const covered = Math.max(since.getTime(), newest.at.getTime());
  return when(
    server.now.getTime() - covered > trimmedWithinMs,
    `The log is not trimmed: entry ${first} of ${since.toISOString()} is still there, although a snapshot includes it. Check that a node is up, and check its log`,
  );
}

function when(isSo: boolean, warning: string): string[] {
  return isSo ? [warning] : [];
}
