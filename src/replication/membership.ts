import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import type { NodeFacts, NodeParts, Refuses } from './node-parts.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { checkId } from './postgres/layout.ts';
import { noPostgres } from './postgres/postgres-error.ts';
import { postgresLayout } from './postgres/schema.ts';
import { maxSkewMs, postgresNow, whySkewed } from './postgres/shared-clock.ts';
import type { Streams } from './streams.ts';

/** Interval between attempts to claim the directory's row again. */
const againMs = 30_000;

type MembershipParts = Pick<NodeParts, 'facts' | 'link' | 'clock' | 'log'>;

/** Whether PostgreSQL assigns the data directory to this process. */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #streams: Streams;
  isJoined = false;
  #isCopied = false;
  #again = 0;
  #isSkewed = false;

  constructor(parts: MembershipParts, streams: Streams) {
    this.#parts = parts;
    this.#streams = streams;
  }

  /** Why this node may not count, although its disk accepts data. */
  get refuses(): Refuses | undefined {
    const { all, own } = this.#streams;
    if (this.#isCopied || all.some(({ held }) => held === 'foreign')) return 'copied';
    return own.held === 'closed' ? 'closed' : undefined;
  }

  /** @throws {JoinRefused} @throws {PostgresError} */
  async join(): Promise<void> {
    const { facts, link, clock, log } = this.#parts;
    const streams = this.#streams.all.map(({ stream }) => stream);
    await join(link, clock, facts, streams);
    this.isJoined = true;
    log.info('joined the cluster', { node: facts.name, directory: facts.directory });
  }

  /**
   * Claims the directory's row again if it is not of this process: PostgreSQL reverted to an earlier state, or another process has it.
   * @param skewMs how far this machine's clock is ahead of PostgreSQL's
   * @returns whether the row was claimed, so that the last view is outdated
   */
  async keep(isOurs: boolean, skewMs: number): Promise<boolean> {
    this.#watchClock(skewMs);
    if (isOurs) this.#isCopied = false;
    return !isOurs && this.#parts.clock.monotonic() >= this.#again && (await this.#joinAgain());
  }

  #watchClock(skewMs: number): void {
    const isSkewed = Math.abs(skewMs) > maxSkewMs;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    const skew = { skewMs: Math.round(skewMs) };
    const next = "this node manages nothing until it is; counting continues by PostgreSQL's time";
    if (isSkewed)
      this.#parts.log.error('the clock of this machine is wrong: correct it (NTP)', { ...skew, next });
    else this.#parts.log.info('the clock of this machine is right again', skew);
  }

  async #joinAgain(): Promise<boolean> {
    this.#again = this.#parts.clock.monotonic() + againMs;
    try {
      await this.join();
      return true;
    } catch (error) {
      if (!(error instanceof JoinRefused)) throw error;
      const next = 'it counts nothing while the other runs, and keeps its earlier counts';
      if (!this.#isCopied) this.#parts.log.error('this node is not alone', { error, next });
      this.#isCopied = true;
      return false;
    }
  }
}

/** The node must not use this directory with this database; the message says what to do. */
export class JoinRefused extends Error {
  override readonly name = 'JoinRefused';
}

/** Prefix of the directory of a stream, before its id, in a database filled from a replica that does not know the directory. */
export const unknownDirectory = 'unknown-';

/** A process without a heartbeat for this long is dead. The interval is one second. */
const silentMs = 2500;
const lookAgainMs = 250;

interface Seen {
  readonly engine: string;
  readonly at: bigint;
  readonly stream: string | null;
  readonly name: string | null;
  readonly state: string | null;
  readonly heartbeat: string | null;
  readonly silent: bigint | null;
}

/**
 * Claims the directory's row for this process, which may then ship the streams of earlier processes. A database that was filled from
 * a replica can have listed some of `streams`, which are those of the directory, under an unknown directory. Nothing is written before it is
 * certain that no other process uses the directory.
 * @throws {JoinRefused} another process uses a copy of this directory, or the clocks differ
 * @throws {PostgresUnfit} it is another database
 */
export async function join(
  session: PostgresSession,
  clock: Clock,
  facts: NodeFacts,
  streams: readonly string[],
): Promise<void> {
  let first: Seen | undefined;
  for (;;) {
    const asked = clock.now();
    const seen = await look(session, facts.directory);
    const answered = clock.now();
    checkId(facts.engine, seen.engine);
    const skewed = whySkewed((asked + answered) / 2 - Number(seen.at));
    if (skewed !== undefined) throw new JoinRefused(skewed);
    first ??= seen;
    const isOther = seen.stream !== null && seen.stream !== facts.stream && seen.state === 'up';
    if (isOther && isAlive(first, seen))
      throw new JoinRefused(
        `Cannot use ${facts.path}: another process, node ${seen.name}, uses the same directory or a copy of it right now; stop it, or start this one with an empty data directory`,
      );
    const isFree = !isOther || Number(seen.silent) >= silentMs;
    if (isFree && (await claim(session, facts, seen, answered, streams))) return;
    await setTimeout(lookAgainMs);
  }
}

/** An earlier heartbeat than at the first look is that of a standby promoted since, and proves nothing. */
function isAlive(first: Seen, { heartbeat }: Seen): boolean {
  return first.heartbeat === null || (heartbeat !== null && heartbeat > first.heartbeat);
}

async function look(session: PostgresSession, directory: string): Promise<Seen> {
  const { rows } = await session.query<Seen>({
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
 * @param answered arrival time of the answer, by the node's clock
 * @returns false if the row has changed since it was read
 */
async function claim(
  session: PostgresSession,
  facts: NodeFacts,
  seen: Seen,
  answered: number,
  streams: readonly string[],
): Promise<boolean> {
  const { directory, name, version, stream } = facts;
  // By PostgreSQL's clock, or slightly earlier.
  const started = Number(seen.at) - Math.max(0, answered - facts.started);
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
