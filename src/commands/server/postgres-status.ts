import type { Arguments, Terminal } from '../../cli/command.ts';
import { createContext } from '../../cli/context.ts';
import { makeTable, recordText, type Screen, show } from '../../cli/show.ts';
import { checkPostgres } from '../../replication/postgres/checks.ts';
import type { Connection } from '../../replication/postgres/connection.ts';
import { isSealed, readPostgresKey, readSecret } from '../../replication/postgres/postgres-key.ts';
import {
  type LogLength,
  type NodeReport,
  type PostgresReport,
  postgresWarnings,
  readPostgres,
} from '../../replication/postgres/postgres-report.ts';
import { systemClock } from '../../runtime/clock.ts';
import { withPostgres } from '../../serve/postgres-connection.ts';
import { postgresSettings } from './server-options.ts';

/**
 * @throws {UsageError} for wrong options or URL
 * @throws {PostgresSetupError} when the database is not initialised, or another key file is given
 * @throws {PostgresError} when PostgreSQL cannot be reached
 */
export async function postgresStatus(given: Arguments, terminal: Terminal): Promise<number> {
  const { config, address } = postgresSettings(given, terminal);
  return withPostgres(address, async (connection) => {
    if (config.postgresKeyFile !== undefined) await checkKey(connection, config.postgresKeyFile);
    const asked = systemClock.now();
    const report = await readPostgres(connection);
    const skewMs = (asked + systemClock.now()) / 2 - report.server.now.getTime();
    const host = connection.host ?? '';
    const warnings = postgresWarnings(report, skewMs);
    terminal.out(
      given.has('json')
        ? `${JSON.stringify({ host, ...report, warnings })}\n`
        : statusText(report, host, warnings, createContext(terminal)),
    );
    return 0;
  });
}

async function checkKey(connection: Connection, file: string): Promise<void> {
  const key = readPostgresKey(file);
  const { secret } = await connection.transaction((run) => checkPostgres(run));
  if (isSealed(secret)) readSecret(secret, key);
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`;
}

/** @param host host of the primary */
export function statusText(report: PostgresReport, host: string, warnings: readonly string[], screen: Screen): string {
  const parts = [postgresText(report, host), nodesText(report, screen), refusedText(report), warningsText(warnings)];
  return parts.filter((part) => part !== '').join('\n');
}

function postgresText(report: PostgresReport, host: string): string {
  const { engine, server, heads, log, snapshots, streams } = report;
  const snapshot = snapshots.find(({ state }) => state === 'whole');
  return recordText([
    ['Database', `${engine.id}, layout ${engine.layout}, ${engine.encrypted ? 'with' : 'without'} a key file`],
    ['Server', `PostgreSQL ${server.version} at ${host}`],
    ['Standbys', standbysText(server)],
    ['Created', at(engine.createdAt)],
    ['Accounts', `version ${heads.control}`],
    ['Log', logText(log, heads.data)],
    ['Trimmed', trimmedText(log, heads.data)],
    [
      'Snapshot',
      snapshot ? `position ${snapshot.position}, ${bytesText(snapshot.bytes)}, ${at(snapshot.at)}` : 'none yet',
    ],
    ['Streams', `${streams.open.length} open, ${streams.done} done, ${streams.forgotten} forgotten`],
    ['Complete', completeText(report)],
  ]);
}

function standbysText({ standbys }: PostgresReport['server']): string {
  return standbys.map(({ name, state }) => (state === null ? name : `${name} (${state})`)).join(', ') || 'none';
}

/** Formats the time up to which reports are complete, because all open streams have shipped their data. */
function completeText({ streams, nodes }: PostgresReport): string {
  const shipped = streams.open[0]?.through;
  if (shipped === undefined) return 'no node counts';
  const lagging = nodes.filter(({ isLagging }) => isLagging).map(({ name }) => name);
  const except = lagging.length > 0 ? `, except on ${lagging.join(', ')}` : '';
  return `reports, until ${at(shipped)}${except}`;
}

function logText({ entries, bytes, since }: LogLength, head: number): string {
  const oldest = since === null ? '' : `, the oldest from ${at(since)}`;
  return `position ${head}; ${entries} entries of ${bytesText(bytes)}${oldest}`;
}

function trimmedText({ entries, ids }: LogLength, head: number): string {
  return `${ids} entries to their ids; ${head - entries - ids} removed`;
}

const headings = [
  { title: 'NODE', cut: true },
  { title: 'STATE' },
  { title: 'LAST HEARTBEAT' },
  { title: 'BEHIND', right: true },
  { title: 'SPOOL', right: true },
  { title: 'UNSHIPPED SINCE' },
  { title: 'VERSION' },
  { title: 'DIRECTORY' },
] as const;

function nodesText({ nodes }: PostgresReport, screen: Screen): string {
  if (nodes.length === 0) return 'No node has joined yet: flagmeter serve --postgres-file FILE --data DIR\n';
  const rows = nodes.map((node) => [
    ...[node.name, stateText(node), at(node.lastBeat), String(node.behind), bytesText(node.spoolBytes)],
    ...[at(node.unshippedSince), node.version, node.directory],
  ]);
  return makeTable(headings, rows, screen).text;
}

const refusals: Readonly<Record<NonNullable<NodeReport['refuses']>, string>> = {
  closed: 'refuses',
  copied: 'copy refuses',
  full: 'spool full',
  store: 'store fails',
};

function stateText({ state, refuses, holds }: NodeReport): string {
  if (refuses !== null) return `${state}, ${refusals[refuses]}`;
  return holds ? `${state}, ships nothing` : state;
}

function refusedText({ refused }: PostgresReport): string {
  const rows = refused.rows > 0 ? [`Rejected: ${refused.rows} rows of deltas. The latest rejected rows:\n`] : [];
  const latest = refused.latest.map(({ place, reason, at: when }) => `  ${at(when)} ${place}: ${reason}\n`);
  return [...rows, ...latest].join('');
}

function warningsText(warnings: readonly string[]): string {
  return warnings.map((warning) => `Warning: ${warning}\n`).join('');
}

function at(time: Date | null): string {
  return show(time?.toISOString());
}
