import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { PostgresStream } from './decide.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { checkId } from './postgres/layout.ts';
import type { LogPosition } from './postgres/log-position.ts';
import { noHead } from './postgres/postgres-error.ts';
import { postgresNow } from './postgres/shared-clock.ts';

/** What a node says of itself each second. */
export interface Beat {
  readonly directory: string;
  /** The engine that the directory belongs to. */
  readonly engine: string | undefined;
  /** Of this process. */
  readonly stream: string;
  readonly applied: number;
  readonly spoolBytes: number;
  /** Since when something waits to be shipped, Unix ms. */
  readonly oldestUnshipped: number | undefined;
  readonly skewMs: number;
  /** See `Delta`. */
  readonly version: number;
  /** The last delta of the stream. */
  readonly seq: number;
  /** All that was answered before this time is in the log; `undefined` while something of it is not. */
  readonly idleThrough: number | undefined;
  /** The streams to tell of, with those that earlier processes left here. */
  readonly streams: readonly string[];
}

/** What the engine answers. */
export interface PostgresView extends Pick<UsageStoreStatus, 'nodes' | 'refused'> {
  readonly engine: string;
  /** The last entry of the log. */
  readonly head: LogPosition;
  /** The engine's clock, Unix ms. */
  readonly at: number;
  /** Whether the row of this directory is of this process: otherwise another one uses a copy of the directory. */
  readonly isOurs: boolean;
  readonly streams: readonly (PostgresStream & { readonly stream: string })[];
  /** All that other open streams have answered before this time is in the log; `undefined` when there are none. */
  readonly othersThrough: number | undefined;
  /** What changes when another server has become the primary, or it was restored. */
  readonly timeline: string;
}

/**
 * Tells the engine that this node is alive, and reads what a node follows: one statement, which is committed synchronously.
 * So what it has read is confirmed, and what was acknowledged before it was sent is replicated.
 */
export async function beat(session: PostgresSession, said: Beat): Promise<PostgresView> {
  const { rows } = await session.query<{ view: PostgresView }>({
    name: 'fm-beat',
    text: beatText,
    values: [
      ...[said.directory, said.stream, said.applied, said.spoolBytes, said.oldestUnshipped],
      ...[Math.round(said.skewMs), said.version, said.seq, said.idleThrough, said.streams],
    ],
  });
  const [{ view } = noHead()] = rows;
  checkId(said.engine, view.engine);
  return view;
}

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::bigint`;

const beatText = `
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
    'timeline', substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    'othersThrough', (SELECT min(through) FROM fm_stream WHERE state = 'open' AND stream <> $2),
    'streams', (SELECT coalesce(json_agg(
      json_build_object('stream', stream, 'seq', seq, 'digest', encode(digest, 'hex'), 'state', state)), '[]')
      FROM fm_stream WHERE stream = ANY($10::text[])),
    'nodes', (SELECT coalesce(json_agg(json_build_object('directory', directory, 'name', name, 'version', version, 'state', state,
      'lastBeat', ${ms('beat_at')}, 'lag', greatest(0, head.position - applied), 'spoolBytes', spool_bytes,
      'oldestUnshipped', oldest_unshipped, 'through', through) ORDER BY name, directory), '[]') FROM fm_node),
    'refused', json_build_object('rows', (SELECT count(*) FROM fm_refused), 'latest', (
      SELECT coalesce(json_agg(refusal), '[]') FROM (SELECT stream, place, reason, ${ms('at')} AS at
      FROM fm_refused ORDER BY at DESC LIMIT 5) AS refusal))
  )) AS view FROM fm_head AS head WHERE log = 'data'`;
