import type { Arguments, Terminal } from '../../cli/command.ts';
import { createContext } from '../../cli/context.ts';
import { UsageError } from '../../cli/options.ts';
import { confirm, type Person } from '../../cli/prompt.ts';
import { show } from '../../cli/show.ts';
import type { Connection } from '../../replication/postgres/connection.ts';
import { findLoss, forgetNode, type NodeLoss } from '../../replication/postgres/forget-node.ts';
import { withPostgres } from '../../serve/postgres-connection.ts';
import { bytesText } from './postgres-status.ts';
import { postgresSettings } from './server-options.ts';

/**
 * @throws {UsageError} for wrong options or URL, and without `--yes` in a script
 * @throws {PostgresSetupError} when the node is unknown, or might be running; nothing has changed then
 * @throws {Failure} without confirmation
 */
export async function postgresForgetNode(given: Arguments, terminal: Terminal): Promise<number> {
  const { person } = createContext(terminal);
  if (person === undefined && !given.has('yes'))
    throw new UsageError(
      'Cannot forget a node without --yes: reports lack its unshipped data until it is started again',
    );
  const { address } = postgresSettings(given, terminal);
  const loss = await withPostgres(address, (connection) => forget(connection, given, terminal, person));
  const done = loss.continues
    ? `Reports no longer wait for ${streamsText(loss)} of node ${loss.name}.\n`
    : `Node ${loss.name} is forgotten.\n`;
  terminal.out(given.has('json') ? `${JSON.stringify(loss)}\n` : done);
  return 0;
}

async function forget(
  connection: Connection,
  given: Arguments,
  terminal: Terminal,
  person: Person | undefined,
): Promise<NodeLoss> {
  const force = given.has('force');
  const loss = await findLoss(connection, given.operand, force);
  terminal.err(lossText(loss));
  if (person !== undefined && !given.has('yes')) {
    const what = loss.continues ? `${streamsText(loss)} of node` : 'node';
    await confirm(person, `Forget ${what} ${loss.name}?`, 'Nothing was changed');
  }
  return forgetNode(connection, loss.directory, force);
}

/** Describes the data that is lost, according to the node's last heartbeat in PostgreSQL. */
function lossText(loss: NodeLoss): string {
  const { name, directory, lastBeat, spoolBytes, unshippedSince, streams, continues } = loss;
  const head = `Node ${name} (${directory}) was last seen ${show(lastBeat.toISOString())}.\n`;
  const [first] = streams;
  if (first === undefined) return `${head}It has shipped all of its data.\n`;
  const until = show(first.shippedUntil.toISOString());
  if (continues)
    return `${head}It is running and continues. Only ${streamsText(loss)} of its other processes, or of copies of its directory, will be forgotten.
Reports have the data that they accepted before ${until}, and might lack later data. The node ships the rest that its directory has.
If a copy of the directory has more, start the node there instead.
`;
  const since = unshippedSince === null ? '' : `, the oldest of it from ${show(unshippedSince.toISOString())}`;
  const waiting =
    spoolBytes === 0 && unshippedSince === null
      ? 'Its spool was empty then'
      : `Its spool held ${bytesText(spoolBytes)} then${since}`;
  return `${head}Reports have the data that the node accepted before ${until}, and might lack later data. ${waiting}.
If its data directory still exists, start the node there instead, to ship the rest.
`;
}

function streamsText({ streams }: NodeLoss): string {
  return streams.length === 1 ? 'one stream' : `${streams.length} streams`;
}
