import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { NodeDeps, NodeFacts, Refuses } from './node-deps.ts';
import { checkId } from './postgres/checks.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { LogPosition } from './postgres/follower.ts';
import { noHead, noPostgres } from './postgres/postgres-error.ts';
import { postgresLayout } from './postgres/schema.ts';
import { maxSkewMs, postgresNow, whySkewed } from './postgres/shared-clock.ts';
import type { PostgresStream, Streams } from './streams.ts';

/** Interval between attempts to claim the data directory's row in PostgreSQL again. */
const againMs = 30_000;

/** Claims the data directory for this process with a row in PostgreSQL. */
export class Membership {
  readonly #deps: NodeDeps;
  readonly #streams: Streams;
  isJoined = false;
  #isCopied = false;
  #again = 0;
  #isSkewed = false;

  constructor(deps: NodeDeps, streams: Streams) {
    this.#deps = deps;
    this.#streams = streams;
  }

  /** Reason why this node must not count, although its disk accepts data; `undefined` if it may count. */
  get refuses(): Refuses | undefined {
    const { all, own } = this.#streams;
    if (this.#isCopied || all.some(({ held }) => held === 'foreign')) return 'copied';
    return own.held === 'closed' ? 'closed' : undefined;
  }

  /** @throws {JoinRefusal} @throws {PostgresError} */
  async join(): Promise<void> {
    const { facts, link, clock, log } = this.#deps;
    const streams = this.#streams.all.map(({ stream }) => stream);
    await join(link, clock, facts, streams);
    this.isJoined = true;
    log.info('joined the cluster', { node: facts.name, directory: facts.directory });
  }

  /**
   * Claims the directory's row again if this process no longer owns it, because PostgreSQL reverted to an earlier state
   * or another process has claimed the row.
   * @param skewMs lead of this machine's clock over PostgreSQL's clock
   * @returns true if the row was claimed; the last `PostgresView` is then outdated
   */
  async keep(isOurs: boolean, skewMs: number): Promise<boolean> {
    this.#watchClock(skewMs);
    if (isOurs) this.#isCopied = false;
    return !isOurs && this.#deps.clock.monotonic() >= this.#again && (await this.#joinAgain());
  }

  #watchClock(skewMs: number): void {
    const isSkewed = Math.abs(skewMs) > maxSkewMs;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    const skew = { skewMs: Math.round(skewMs) };
    const next = "this node manages nothing until the clock is right; counting continues by PostgreSQL's time";
    if (isSkewed) this.#deps.log.error('the clock of this machine is wrong: correct it (NTP)', { ...skew, next });
    else this.#deps.log.info('the clock of this machine is right again', skew);
  }

  async #joinAgain(): Promise<boolean> {
    this.#again = this.#deps.clock.monotonic() + againMs;
    try {
      await this.join();
      return true;
    } catch (error) {
      if (!(error instanceof JoinRefusal)) throw error;
      const next = 'this node counts nothing while the other process runs, and keeps its earlier counts';
      if (!this.#isCopied) this.#deps.log.error('another process uses the directory of this node', { error, next });
      this.#isCopied = true;
      return false;
    }
  }
}

/** Error if the node must not use this directory with this database. The message says what to do. */
export class JoinRefusal extends Error {
  override readonly name = 'JoinRefusal';
}

/** Prefix of the name that stands for an unknown directory in a database that was filled from a replica. */
export const unknownDirectory = 'unknown-';

/** Time without a heartbeat after which a process is considered dead. The interval between heartbeats is one second. */
const silentMs = 2500;
const lookAgainMs = 250;

interface NodeRow {
  readonly engine: string;
  readonly at: bigint;
  readonly stream: string | null;
  readonly name: string | null;
  readonly state: string | null;
  readonly heartbeat: string | null;
  readonly silent: bigint | null;
}

/**
 * Claims the directory's row for this process, which can then ship the streams of earlier processes. In a database that
 * was filled from a replica, some of the `streams` can belong to an unknown directory. Nothing is written until it is
 * certain that no other process uses the directory.
 * @throws {JoinRefusal} another process uses a copy of this directory, or the clocks differ
 * @throws {PostgresSetupError} the directory has used another database before
 */
async function join(
  session: PostgresSession,
  clock: Clock,
  facts: NodeFacts,
  streams: readonly string[],
): Promise<void> {
  let first: NodeRow | undefined;
  for (;;) {
    const asked = clock.now();
    const seen = await look(session, facts.directory);
    const receivedAt = clock.now();
    checkId(facts.postgresId, seen.engine);
    const skewed = whySkewed((asked + receivedAt) / 2 - Number(seen.at));
    if (skewed !== undefined) throw new JoinRefusal(skewed);
    first ??= seen;
    const isOther = seen.stream !== null && seen.stream !== facts.stream && seen.state === 'up';
    if (isOther && isAlive(first, seen))
      throw new JoinRefusal(
        `Cannot use ${facts.path}: another process, node ${seen.name}, uses the same directory or a copy of it right now; stop it, or start this one with an empty data directory`,
      );
    const isFree = !isOther || Number(seen.silent) >= silentMs;
    if (isFree && (await claim(session, facts, seen, receivedAt, streams))) return;
    await setTimeout(lookAgainMs);
  }
}

/** True if the node has sent a heartbeat since the first read. After a failover, the row can show an earlier one. */
function isAlive(first: NodeRow, { heartbeat }: NodeRow): boolean {
  return first.heartbeat === null || (heartbeat !== null && heartbeat > first.heartbeat);
}

async function look(session: PostgresSession, directory: string): Promise<NodeRow> {
  const { rows } = await session.query<NodeRow>({
    name: 'fm-join-look',
    text: `SELECT engine.id AS engine, ${postgresNow} AS at,
             node.stream, node.name, node.state, node.beat_at::text AS heartbeat,
             (extract(epoch FROM clock_timestamp() - node.beat_at) * 1000)::bigint AS silent
           FROM fm_engine AS engine LEFT JOIN fm_node AS node ON node.directory = $1`,
    values: [directory],
  });
  const [seen] = rows;
  if (seen === undefined) throw noPostgres();
  return seen;
}

/**
 * Claims the data directory's row.
 * @param receivedAt time when `seen` arrived, by the node's clock
 * @returns false if the row has changed since it was read
 */
async function claim(
  session: PostgresSession,
  facts: NodeFacts,
  seen: NodeRow,
  receivedAt: number,
  streams: readonly string[],
): Promise<boolean> {
  const { directory, name, version, stream } = facts;
  // Start time of the process by PostgreSQL's clock, or slightly earlier.
  const started = Number(seen.at) - Math.max(0, receivedAt - facts.started);
  return session.transaction(async (run) => {
    const claimed = await run({
      name: 'fm-join-claim',
      text: `INSERT INTO fm_node (directory, name, stream, version, beat_at, through, layout, state)
             VALUES ($1, $2, $3, $4, clock_timestamp(), $5, $8, 'up')
             ON CONFLICT (directory) DO UPDATE
             SET name = excluded.name, stream = excluded.stream, version = excluded.version, beat_at = excluded.beat_at,
               through = excluded.through, layout = excluded.layout, state = 'up'
             WHERE fm_node.stream IS NOT DISTINCT FROM $6 AND ($7::text IS NULL OR fm_node.beat_at::text = $7::text OR $6 IS NULL)
             RETURNING 1`,
      values: [directory, name, stream, version, started, seen.stream, seen.heartbeat, postgresLayout],
    });
    if (claimed.rows.length === 0) return false;
    await run({
      name: 'fm-join-stream',
      text: `INSERT INTO fm_stream (stream, directory, seq, digest, through, since, version, state)
             VALUES ($1, $2, 0, '', $3, 0, 0, 'open') ON CONFLICT (stream) DO NOTHING`,
      values: [stream, directory, started],
    });
    await run({
      name: 'fm-join-found',
      text: `WITH found AS (
               UPDATE fm_stream SET directory = $1 WHERE stream = ANY($2::text[]) AND directory <> $1 RETURNING stream
             ) DELETE FROM fm_node USING found WHERE fm_node.directory = $3 || found.stream`,
      values: [directory, streams, unknownDirectory],
    });
    return true;
  });
}

/** The state that a node reports each second. */
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
  /** All packets acknowledged before this time are in the log; `undefined` while an acknowledged packet is missing. */
  readonly idleThrough: number | undefined;
  /** The streams to report, including streams of earlier processes. */
  readonly streams: readonly string[];
}

/** The response of PostgreSQL to a heartbeat. */
export interface PostgresView extends Pick<UsageStoreStatus, 'nodes' | 'refused'> {
  readonly engine: string;
  readonly head: LogPosition;
  /** PostgreSQL's time, Unix ms. */
  readonly at: number;
  /** True if this process owns its directory's row. If not, another process took it, or PostgreSQL lost the claim. */
  readonly isOurs: boolean;
  /** The requested streams, and the open streams of the directory. */
  readonly streams: readonly (PostgresStream & { readonly stream: string })[];
  /**
   * All packets that other open streams acknowledged before this time are in the log; `undefined` without such streams.
   */
  readonly othersThrough: number | undefined;
  /** Changes when another server has become the primary, or the database was restored. */
  readonly timeline: string;
}

/**
 * Sends the heartbeat of this node, and reads the state of the cluster, in one statement that commits synchronously.
 * The commit confirms that this state and all earlier acknowledged deltas are replicated.
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
