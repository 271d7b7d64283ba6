import { show } from '../cli/show.ts';
import { makeTable, recordText, type Screen } from '../cli/table.ts';
import type { LogLength, NodeReport, PostgresReport } from '../replication/postgres/postgres-report.ts';

/** A number of bytes for people. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`;
}

/** What `postgres status` prints. @param host of the primary */
export function statusText(
  report: PostgresReport,
  host: string,
  warnings: readonly string[],
  screen: Screen,
): string {
  const parts = [
    postgresText(report, host),
    nodesText(report, screen),
    refusedText(report),
    warningsText(warnings),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function postgresText(report: PostgresReport, host: string): string {
  const { engine, server, heads, log, snapshots, streams } = report;
  const snapshot = snapshots.find(({ state }) => state === 'whole');
  return recordText([
    [
      'AccountStore',
      `${engine.id}, layout ${engine.layout}, ${engine.encrypted ? 'with' : 'without'} a key file`,
    ],
    ['Server', `PostgreSQL ${server.version} at ${host}`],
    ['Standbys', standbysText(server)],
    ['Made', at(engine.createdAt)],
    ['Accounts', `version ${heads.control}`],
    ['Log', logText(log, heads.data)],
    ['Trimmed', trimmedText(log, heads.data)],
    [
      'Snapshot',
      snapshot
        ? `position ${snapshot.position}, ${bytesText(snapshot.bytes)}, ${at(snapshot.at)}`
        : 'none yet',
    ],
    ['Streams', `${streams.open.length} open, ${streams.done} done, ${streams.forgotten} forgotten`],
    ['Complete', completeText(report)],
  ]);
}

function standbysText({ standbys }: PostgresReport['server']): string {
  return (
    standbys.map(({ name, state }) => (state === null ? name : `${name} (${state})`)).join(', ') || 'none'
  );
}

/** What all open streams have shipped is in the reports of each node that has applied it. */
function completeText({ streams, nodes }: PostgresReport): string {
  const shipped = streams.open[0]?.through;
  if (shipped === undefined) return 'no node counts';
  const lagging = nodes.filter(({ isLagging }) => isLagging).map(({ name }) => name);
  const except = lagging.length > 0 ? `, but not those of ${lagging.join(', ')}` : '';
  return `reports, until ${at(shipped)}${except}`;
}

function logText({ entries, bytes, since }: LogLength, head: number): string {
  const oldest = since === null ? '' : `, the oldest from ${at(since)}`;
  return `position ${head}; ${entries} entries of ${bytesText(bytes)}${oldest}`;
}

/** How much of the log the nodes have trimmed. */
function trimmedText({ entries, ids }: LogLength, head: number): string {
  return `${ids} entries to their ids; ${head - entries - ids} removed`;
}

const headings = [
  { title: 'NODE', cut: true },
  { title: 'STATE' },
  { title: 'LAST BEAT' },
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

function stateText({ state, refuses }: NodeReport): string {
  if (refuses === null) return state;
  return `${state}, ${refuses === 'closed' ? 'refuses' : 'copy refuses'}`;
}

function refusedText({ refused }: PostgresReport): string {
  const rows = refused.rows > 0 ? [`Refused: ${refused.rows} rows of deltas, the last of them\n`] : [];
  const latest = refused.latest.map(({ place, reason, at: when }) => `  ${at(when)} ${place}: ${reason}\n`);
  return [...rows, ...latest].join('');
}

function warningsText(warnings: readonly string[]): string {
  return warnings.map((warning) => `Warning: ${warning}\n`).join('');
}

function at(time: Date | null): string {
  return show(time?.toISOString());
}
