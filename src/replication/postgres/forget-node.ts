import type { Connection } from './connection.ts';
import { PostgresUnfit, unfit } from './postgres-error.ts';
import type { Run } from './statement.ts';

/** What is lost with a node, as of its last heartbeat. */
export interface NodeLoss {
  readonly directory: string;
  readonly name: string;
  readonly state: string;
  readonly lastBeat: Date;
  readonly spoolBytes: number;
  readonly unshippedSince: Date | null;
  readonly streams: readonly { readonly stream: string; readonly shippedUntil: Date }[];
}

/** A node with a heartbeat within this time may still count, even if it is cut off. */
const forgettableAfterMs = 10 * 60_000;

interface Row extends Omit<NodeLoss, 'streams'> {
  readonly isAlive: boolean;
}

/**
 * Finds a node by the id of its directory or by its name, with its unshipped data.
 * @param force accepts a node with a heartbeat within the last ten minutes
 * @throws {PostgresUnfit} the node is unknown, ambiguous, already forgotten, or may be running
 */
export function findLoss(connection: Connection, named: string, force: boolean): Promise<NodeLoss> {
  return connection.transaction((run) => lossOf(run, named, force));
}

/**
 * Closes the streams of a node in one transaction. The log takes no more of them, and reports do not wait for them.
 * @throws {PostgresUnfit} as `findLoss`
 */
export function forgetNode(connection: Connection, directory: string, force: boolean): Promise<NodeLoss> {
  return connection.transaction(async (run) => {
    const loss = await lossOf(run, directory, force);
    void run({
      text: `UPDATE fm_stream SET state = 'forgotten' WHERE directory = $1 AND state = 'open'`,
      values: [directory],
    });
    void run({ text: `UPDATE fm_node SET state = 'forgotten' WHERE directory = $1`, values: [directory] });
    return loss;
  });
}

async function lossOf(run: Run, named: string, force: boolean): Promise<NodeLoss> {
  const { rows } = await run<Row>({
    text: `SELECT directory, name, state, beat_at AS "lastBeat", spool_bytes::float8 AS "spoolBytes",
             to_timestamp(nullif(oldest_unshipped, 0) / 1000.0) AS "unshippedSince",
             state = 'up' AND beat_at > clock_timestamp() - $1 * interval '1 ms' AS "isAlive"
           FROM fm_node WHERE directory = $2 OR name = $2 ORDER BY directory FOR UPDATE`,
    values: [forgettableAfterMs, named],
  }).catch(unfit);
  const [first, ...others] = rows;
  const found = rows.find(({ directory }) => directory === named) ?? first;
  if (found === undefined)
    throw new PostgresUnfit(`No node ${named} found: flagmeter postgres status lists the nodes`);
  const { isAlive, ...node } = found;
  const { directory, name, state, lastBeat } = node;
  if (directory !== named && others.length > 0)
    throw new PostgresUnfit(
      `${rows.length} nodes have the name ${named}: identify one by its directory, ${rows.map((row) => row.directory).join(' or ')}`,
    );
  if (state === 'forgotten') throw new PostgresUnfit(`Node ${name} (${directory}) is already forgotten`);
  if (isAlive && !force)
    throw new PostgresUnfit(
      `Node ${name} sent a heartbeat at ${lastBeat.toISOString()} and may be running. Stop it, so that it ships its counts. If it is lost, wait ten minutes or add --force`,
    );
  const { rows: streams } = await run<NodeLoss['streams'][number]>({
    text: `SELECT stream, to_timestamp(through / 1000.0) AS "shippedUntil" FROM fm_stream
           WHERE directory = $1 AND state = 'open' ORDER BY through, stream`,
    values: [directory],
  });
  return { ...node, streams };
}
