import type { Connection } from './connection.ts';
import { PostgresSetupError, throwSetupError } from './postgres-error.ts';
import { silentAfterMs } from './postgres-report.ts';
import type { Run } from './session.ts';

/** The data that is lost if a node is forgotten, as of its last heartbeat. */
export interface NodeLoss {
  readonly directory: string;
  readonly name: string;
  readonly state: string;
  readonly lastBeat: Date;
  readonly spoolBytes: number;
  readonly unshippedSince: Date | null;
  /** The streams to close. */
  readonly streams: readonly { readonly stream: string; readonly shippedUntil: Date }[];
  /** True if the node is up. Its current stream is then not closed, so the node continues. */
  readonly continues: boolean;
}

/** A node whose last heartbeat is younger than this might still be counting, even if it cannot reach PostgreSQL. */
const forgettableAfterMs = 10 * 60_000;

interface Row extends Omit<NodeLoss, 'streams' | 'continues'> {
  readonly current: string | null;
  readonly isAlive: boolean;
  readonly isUp: boolean;
}

/**
 * Finds a node by the id of its directory or by its name, with its unshipped data.
 * @param force true to forget a node even if it sent a heartbeat within the last ten minutes; if false, only streams of
 * its other processes are closed
 * @throws {PostgresSetupError} the node is unknown, ambiguous, already forgotten, or might be running
 */
export function findLoss(connection: Connection, named: string, force: boolean): Promise<NodeLoss> {
  return connection.transaction((run) => computeLoss(run, named, force));
}

/**
 * Closes the streams of a node in one transaction. The log then accepts no deltas of these streams, and reports do not
 * wait for them. If the node is up, its current stream stays open, and its process ships the remaining deltas of the
 * closed streams under new streams.
 * @throws {PostgresSetupError} see `findLoss`
 */
export function forgetNode(connection: Connection, directory: string, force: boolean): Promise<NodeLoss> {
  return connection.transaction(async (run) => {
    const loss = await computeLoss(run, directory, force);
    void run({
      text: `UPDATE fm_stream SET state = 'forgotten' WHERE stream = ANY($1::text[]) AND state = 'open'`,
      values: [loss.streams.map(({ stream }) => stream)],
    });
    if (!loss.continues)
      void run({ text: `UPDATE fm_node SET state = 'forgotten' WHERE directory = $1`, values: [directory] });
    return loss;
  });
}

async function computeLoss(run: Run, named: string, force: boolean): Promise<NodeLoss> {
  const { rows } = await run<Row>({
    text: `SELECT directory, name, state, stream AS current, beat_at AS "lastBeat", spool_bytes::float8 AS "spoolBytes",
             to_timestamp(nullif(oldest_unshipped, 0) / 1000.0) AS "unshippedSince",
             state = 'up' AND beat_at > clock_timestamp() - $1 * interval '1 ms' AS "isAlive",
             state = 'up' AND beat_at > clock_timestamp() - $3 * interval '1 ms' AS "isUp"
           FROM fm_node WHERE directory = $2 OR name = $2 ORDER BY directory FOR UPDATE`,
    values: [forgettableAfterMs, named, silentAfterMs],
  }).catch(throwSetupError);
  const [first, ...others] = rows;
  const found = rows.find(({ directory }) => directory === named) ?? first;
  if (found === undefined)
    throw new PostgresSetupError(`No node ${named} found: flagmeter postgres status lists the nodes`);
  const { isAlive, isUp, current, ...node } = found;
  const { directory, name, state, lastBeat } = node;
  if (directory !== named && others.length > 0)
    throw new PostgresSetupError(
      `${rows.length} nodes have the name ${named}: identify one by its directory, ${rows.map((row) => row.directory).join(' or ')}`,
    );
  if (state === 'forgotten') throw new PostgresSetupError(`Node ${name} (${directory}) is already forgotten`);
  const { rows: open } = await run<NodeLoss['streams'][number]>({
    text: `SELECT stream, to_timestamp(through / 1000.0) AS "shippedUntil" FROM fm_stream
           WHERE directory = $1 AND state = 'open' ORDER BY through, stream`,
    values: [directory],
  });
  const earlier = open.filter(({ stream }) => stream !== current);
  const continues = isUp && !force && earlier.length > 0;
  if (isAlive && !force && !continues)
    throw new PostgresSetupError(
      `Node ${name} sent a heartbeat at ${lastBeat.toISOString()} and might be running. Stop it, so that it ships its counts. If the node is lost, wait ten minutes or add --force`,
    );
  return { ...node, streams: continues ? earlier : open, continues };
}
