import { oldestServer } from './init-checks.ts';
import type { NodeReport, PostgresReport, ServerFacts } from './postgres-report.ts';
import { canCommit, whyCommitsMayBeLost } from './replication.ts';
import { whySkewed } from './shared-clock.ts';

/** Warnings about the setup and the nodes. @param skewMs how far the clock of this machine is ahead of PostgreSQL's */
export function postgresWarnings(report: PostgresReport, skewMs: number): string[] {
  const { server, nodes } = report;
  return [
    ofSecrets(report),
    ofServer(server),
    whySkewed(skewMs) ?? [],
    nodes.flatMap(ofNode),
    ofLog(report),
  ].flat();
}

function ofSecrets({ engine: { encrypted } }: PostgresReport): string[] {
  return when(
    !encrypted,
    'The signing keys and other secrets are stored in clear text: stop all nodes, run flagmeter postgres encrypt-keys --postgres-key-file FILE, and start each node with that file',
  );
}

function ofServer(server: ServerFacts): string[] {
  const { version, major, user, synchronousCommit, missingRights } = server;
  const missing = missingRights.join(', ');
  return [
    ...when(major < oldestServer, `The server is PostgreSQL ${version}; use ${oldestServer} or later`),
    ...when(server.fsync !== 'on', 'fsync is off: a power cut can destroy the database; set it on'),
    ...when(
      server.fullPageWrites !== 'on',
      'full_page_writes is off: a power cut can destroy the database; set it on',
    ),
    ...when(
      synchronousCommit === 'off' || synchronousCommit === 'local',
      `synchronous_commit is ${synchronousCommit} by default; flagmeter sets it on for itself, other programs may not`,
    ),
    ...when(missing !== '', `The role ${user} lacks rights on ${missing}; make it the owner of the tables`),
    ...ofStandbys(server),
  ];
}

function ofStandbys(server: ServerFacts): string[] {
  const { synchronousStandbys } = server;
  const reason = whyCommitsMayBeLost(server);
  if (reason !== undefined)
    return [
      `A failover can lose acknowledged accounts, sessions and revocations: ${reason}. Counts of the last hour are shipped again`,
    ];
  if (synchronousStandbys.trim() === '')
    return ['PostgreSQL has no standby: if its disk is lost, so is everything since the last backup'];
  return when(
    !canCommit(server),
    `Too few standbys of synchronous_standby_names (${synchronousStandbys}) are connected: commits wait for them, and so does every change`,
  );
}

const refusals: Readonly<Record<NonNullable<NodeReport['refuses']>, (name: string) => string>> = {
  closed: (name: string) => `Node ${name} was forgotten but is running: it answers 503 until it is restarted`,
  copied: (name: string) =>
    `Several processes use the data directory of node ${name} or copies of it: all but one answer 503. Stop those, keep their directories, and start nodes with empty ones in their place`,
  full: (name: string) =>
    `Node ${name} refuses packets: its spool is full. Its log has the reason why it does not ship; or raise --spool-max`,
  store: (name: string) => `Node ${name} refuses packets: its store cannot take data; see its log`,
};

function ofNode(node: NodeReport): string[] {
  const { name, state, lastBeat, skewMs, shippedUntil, isLagging, behind } = node;
  const isLate = shippedUntil !== null && lastBeat.getTime() - shippedUntil.getTime() > lateAfterMs;
  const refusal = node.refuses === null ? [] : refusals[node.refuses](name);
  const lag = `Reports of node ${name} are not complete: it has not applied ${behind} entries of the log; see its log if the number does not fall`;
  if (state === 'up') {
    const held = node.holds
      ? `Node ${name} counts but ships nothing: PostgreSQL is older than what it keeps; see its log`
      : [];
    const late = isLate && !node.holds ? whyLate(node, shippedUntil) : [];
    return [refusal, whySkewed(skewMs, `node ${name}`) ?? [], when(isLagging, lag), held, late].flat();
  }
  if (state !== 'silent' || shippedUntil === null) return [refusal].flat();
  return [
    `Node ${name} has sent no heartbeat since ${lastBeat.toISOString()}, so reports are ${completeUntil(shippedUntil)}: start it again, or, if it is lost permanently, run flagmeter postgres forget-node ${name}`,
  ];
}

/** A node that ships is not later than this. */
const lateAfterMs = 60_000;

function whyLate({ name, earlierStreams }: NodeReport, shippedUntil: Date): string {
  const reports = `Reports are ${completeUntil(shippedUntil)}:`;
  if (earlierStreams === 0) return `${reports} node ${name} has not shipped its later counts; see its log`;
  const streams = earlierStreams === 1 ? 'a stream' : `${earlierStreams} streams`;
  return `${reports} ${streams} of another process of node ${name}, or of a copy of its directory, can have more counts. If that does not change within a minute, see its log; flagmeter postgres forget-node ${name} stops waiting for them, and the node continues`;
}

function completeUntil(shippedUntil: Date): string {
  return shippedUntil.getTime() === 0 ? 'not complete' : `complete only until ${shippedUntil.toISOString()}`;
}

/** Nodes trim an entry within 70 minutes once a snapshot covers it. */
const trimmedWithinMs = 2 * 3_600_000;

function ofLog({ server, log: { since, first }, snapshots }: PostgresReport): string[] {
  const newest = snapshots.find(({ state }) => state === 'whole');
  if (since === null || first === null || newest === undefined || first > newest.position) return [];
  const covered = Math.max(since.getTime(), newest.at.getTime());
  return when(
    server.now.getTime() - covered > trimmedWithinMs,
    `The log is not trimmed: entry ${first} of ${since.toISOString()} is still there, although a snapshot covers it. Check that a node is up, and its log`,
  );
}

function when(isSo: boolean, warning: string): string[] {
  return isSo ? [warning] : [];
}
