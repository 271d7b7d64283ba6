import type { EngineSession } from '../postgres/connection.ts';
import { EngineUnfit } from '../postgres/engine-error.ts';
import { checkId } from '../postgres/layout.ts';
import type { EngineStream } from './decide.ts';
import type { Applied } from './entry.ts';

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
export interface EngineView {
  readonly engine: string;
  /** The last entry of the log. */
  readonly head: Applied;
  /** The engine's clock, Unix ms. */
  readonly at: number;
  /** Whether the row of this directory is of this process: otherwise another one uses a copy of the directory. */
  readonly isOurs: boolean;
  readonly streams: ReadonlyMap<string, EngineStream>;
  /** All that other open streams have answered before this time is in the log; `undefined` when there are none. */
  readonly othersThrough: number | undefined;
  readonly nodes: readonly EngineNode[];
  readonly refused: { readonly rows: number; readonly latest: readonly EngineRefusal[] };
  /** What changes when another server has become the primary, or it was restored. */
  readonly timeline: string;
}

/** A row of `fm_node`. Times are Unix ms. */
export interface EngineNode {
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  readonly state: string;
  readonly beat: number;
  readonly applied: number;
  readonly spoolBytes: number;
  readonly oldestUnshipped: number | null;
  readonly through: number;
}

export interface EngineRefusal {
  readonly stream: string;
  readonly place: string;
  readonly reason: string;
  readonly at: number;
}

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::bigint`;

/**
 * Tells the engine that this node is alive, and reads what a node follows: one statement, which is committed synchronously.
 * So what it has read is confirmed, and what was acknowledged before it was sent is replicated.
 */
export async function beat(session: EngineSession, said: Beat): Promise<EngineView> {
  const { rows } = await session.query<ViewRow>({
    name: 'fm-beat',
    text: beatText,
    values: [
      said.directory,
      said.stream,
      said.applied,
      said.spoolBytes,
      said.oldestUnshipped ?? null,
      Math.round(said.skewMs),
      said.version,
      said.seq,
      said.idleThrough ?? null,
      said.streams,
    ],
  });
  const [row] = rows;
  if (row === undefined)
    throw new EngineUnfit('The engine has no head of its log: it is being restored, or has to be');
  checkId(said.engine, row.engine);
  return viewOf(row);
}

const beatText = `
  WITH node AS (
    UPDATE fm_node SET beat_at = clock_timestamp(), applied = $3, spool_bytes = $4, oldest_unshipped = $5, skew_ms = $6,
      through = greatest(through, $9::bigint)
    WHERE directory = $1 AND stream = $2 RETURNING 1
  ), idle AS (
    UPDATE fm_stream SET through = greatest(through, $9::bigint), since = greatest(since, $3), version = greatest(version, $7)
    WHERE stream = $2 AND seq = $8 AND state = 'open' AND $9::bigint IS NOT NULL
  )
  SELECT (SELECT id FROM fm_engine) AS engine, position, id::text, ${ms('clock_timestamp()')} AS at,
    (SELECT count(*) FROM node) AS beaten,
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
    (SELECT min(through) FROM fm_stream WHERE state = 'open' AND stream <> $2) AS others_through,
    (SELECT json_agg(json_build_object('stream', stream, 'seq', seq, 'digest', encode(digest, 'hex'), 'state', state))
      FROM fm_stream WHERE stream = ANY($10::text[])) AS streams,
    (SELECT json_agg(json_build_object('directory', directory, 'name', name, 'version', version, 'state', state,
      'beat', ${ms('beat_at')}, 'applied', applied, 'spoolBytes', spool_bytes, 'oldestUnshipped', oldest_unshipped,
      'through', through) ORDER BY name, directory) FROM fm_node) AS nodes,
    (SELECT count(*) FROM fm_refused) AS refused,
    (SELECT json_agg(refusal) FROM (SELECT stream, place, reason, ${ms('at')} AS at
      FROM fm_refused ORDER BY at DESC LIMIT 5) AS refusal) AS refusals
  FROM fm_head WHERE log = 'data'`;

interface ViewRow {
  readonly engine: string;
  readonly position: bigint;
  readonly id: string;
  readonly at: bigint;
  readonly beaten: bigint;
  readonly timeline: string;
  readonly others_through: bigint | null;
  readonly streams: (EngineStream & { readonly stream: string })[] | null;
  readonly nodes: EngineNode[] | null;
  readonly refused: bigint;
  readonly refusals: EngineRefusal[] | null;
}

function viewOf(row: ViewRow): EngineView {
  return {
    engine: row.engine,
    head: { position: Number(row.position), id: row.id },
    at: Number(row.at),
    isOurs: Number(row.beaten) > 0,
    streams: new Map((row.streams ?? []).map((each) => [each.stream, each])),
    othersThrough: row.others_through === null ? undefined : Number(row.others_through),
    nodes: row.nodes ?? [],
    refused: { rows: Number(row.refused), latest: row.refusals ?? [] },
    timeline: row.timeline,
  };
}
