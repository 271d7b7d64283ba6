import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { PostgresStream } from './decide.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { checkId } from './postgres/layout.ts';
import type { LogPosition } from './postgres/log-position.ts';
import { noHead } from './postgres/postgres-error.ts';
import { postgresNow } from './postgres/shared-clock.ts';

/** What a node reports each second. */
interface Heartbeat {
  readonly directory: string;
  /** Name of the session, which contains the condition of the node: see `logSession`. */
  readonly session: string;
  /** The database that the directory belongs to. */
  readonly engine: string | undefined;
  readonly stream: string;
  readonly applied: number;
  readonly spoolBytes: number;
  /** Time of the oldest unshipped packet, Unix ms. */
  readonly oldestUnshipped: number | undefined;
  readonly skewMs: number;
  /** Version of the accounts: see `Delta`. */
  readonly version: number;
  readonly seq: number;
  /** Everything acknowledged before this time is in the log; `undefined` if some of it is not. */
  readonly idleThrough: number | undefined;
  /** The streams to report, including those of earlier processes. */
  readonly streams: readonly string[];
}

/** The answer of PostgreSQL. */
export interface PostgresView extends Pick<UsageStoreStatus, 'nodes' | 'refused'> {
  readonly engine: string;
  readonly head: LogPosition;
  /** PostgreSQL's time, Unix ms. */
  readonly at: number;
  /** Whether this process owns the row of its directory. If not, another process uses a copy of the directory. */
  readonly isOurs: boolean;
  /** The requested streams, and the open streams of the directory. */
  readonly streams: readonly (PostgresStream & { readonly stream: string })[];
  /** Everything that other open streams acknowledged before this time is in the log; `undefined` if there are none. */
  readonly othersThrough: number | undefined;
  /** Changes when another server has become the primary, or the database was restored. */
  readonly timeline: string;
}

/**
 * Sends the heartbeat of this node, and reads the state that it follows, in one statement that commits synchronously. The commit
 * confirms the state read, and that deltas acknowledged before it are replicated.
 */
export async function sendHeartbeat(session: PostgresSession, said: Heartbeat): Promise<PostgresView> {
  const { rows } = await session.query<{ view: PostgresView }>({
    name: 'fm-beat',
    text: statement,
    values: [
      ...[said.directory, said.stream, said.applied, said.spoolBytes, said.oldestUnshipped],
      ...[Math.round(said.skewMs), said.version, said.seq, said.idleThrough, said.streams],
      said.session,
    ],
  });
  const [{ view } = noHead()] = rows;
  checkId(said.engine, view.engine);
  return view;
}

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::bigint`;

const statement = `
  WITH node AS (
    UPDATE fm_node SET beat_at = clock_timestamp(), applied = $3, spool_bytes = $4, oldest_unshipped = $5, skew_ms = $6,
      through = greatest(through, $9::bigint)
    WHERE directory = $1 AND stream = $2 RETURNING 1
  ), idle AS (
    UPDATE fm_stream SET through = greatest(through, $9::bigint), since = greatest(since, $3), version = greatest(version, $7)
    WHERE stream = $2 AND seq = $8 AND state = 'open' AND $9::bigint IS NOT NULL
  )
  SELECT json_strip_nulls(json_build_object(
    'engine', (SELECT id FROM fm_engine), 'head', json_build_object('position', position, 'id', id::text),
    'at', ${postgresNow}, 'isOurs', EXISTS (SELECT 1 FROM node),
    'session', set_config('application_name', $11, false), 'timeline', substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    'othersThrough', (SELECT min(through) FROM fm_stream WHERE state = 'open' AND stream <> $2),
    'streams', (SELECT coalesce(json_agg(
      json_build_object('stream', stream, 'seq', seq, 'digest', encode(digest, 'hex'), 'state', state)), '[]')
      FROM fm_stream WHERE stream = ANY($10::text[]) OR (directory = $1 AND state = 'open')),
    'nodes', (SELECT coalesce(json_agg(json_build_object('directory', directory, 'name', name, 'version', version, 'state', state,
      'lastBeat', ${ms('beat_at')}, 'lag', greatest(0, head.position - applied), 'spoolBytes', spool_bytes,
      'oldestUnshipped', oldest_unshipped, 'through', through) ORDER BY name, directory), '[]') FROM fm_node),
    'refused', json_build_object('rows', (SELECT count(*) FROM fm_refused), 'latest', (
      SELECT coalesce(json_agg(refusal), '[]') FROM (SELECT stream, place, reason, ${ms('at')} AS at
      FROM fm_refused ORDER BY at DESC LIMIT 5) AS refusal))
  )) AS view FROM fm_head AS head WHERE log = 'data'`;
