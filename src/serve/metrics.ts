import { version } from '../../package.json' with { type: 'json' };
import { expiringKeys } from '../accounts/api-keys.ts';
import { listLeakedKeys } from '../accounts/application-keys.ts';
import type { TokenTotals } from '../auth/oauth/tokens.ts';
import { expiryDays } from '../contract/health.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { CallTotals } from '../grpc/call-totals.ts';
import { statusName } from '../grpc/protocol.ts';
import type { ServiceMetric } from '../http/exposition.ts';
import type { RequestTotals } from '../http/request-totals.ts';
import type { Histogram } from '../runtime/histogram.ts';
import type { JournalFigures } from '../storage/commit/committer.ts';
import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { BoundListeners } from './bound-listeners.ts';
import type { Core } from './core.ts';
import { type DiskSpace, isLow } from './disk-watch.ts';
import { checkReadiness } from './service-status.ts';

type LabelledValues<Value> = Iterable<readonly [label: string, value: Value]>;

/** Defines a metric that has one value or none. */
function single<Value extends number | Histogram>(type: ServiceMetric['type']) {
  return (name: string, help: string, read: () => Value | undefined) =>
    ({ name, help, type, read: () => read() ?? [] }) as ServiceMetric;
}

function labelled<Value extends number | Histogram>(type: ServiceMetric['type']) {
  return (name: string, help: string, label: string, read: () => LabelledValues<Value>) => {
    const labels = [label];
    const values = () => Array.from(read(), ([text, value]) => [{ [label]: text }, value] as const);
    return { name, help, type, labels, read: values } as ServiceMetric;
  };
}

export const counter = single<number>('counter');
export const gauge = single<number>('gauge');
export const histogram = single<Histogram>('histogram');
const counterBy = labelled<number>('counter');
const gaugeBy = labelled<number>('gauge');
const histogramBy = labelled<Histogram>('histogram');

/** The counters that the HTTP, gRPC and token endpoints maintain themselves. */
export interface AllTotals {
  readonly requests: RequestTotals;
  readonly calls: CallTotals;
  readonly tokens: TokenTotals;
}

/** The metrics of `GET /metrics`. The values of labels are constants, never texts from senders. */
export function serviceMetrics(
  core: Core,
  { requests, calls, tokens }: AllTotals,
  bound: Pick<BoundListeners, 'certificateExpiry' | 'surplusClosed'>,
): readonly ServiceMetric[] {
  return [
    ...httpMetrics(requests),
    ...grpcMetrics(calls),
    ...tokenMetrics(tokens),
    ...ingestMetrics(core),
    ...journalMetrics(core),
    ...storeMetrics(core),
    ...webhookMetrics(core),
    ...processMetrics(core),
    ...listenerMetrics(bound),
    ...backupMetrics(core),
    ...clusterMetrics(core),
  ];
}

function httpMetrics(requests: RequestTotals): readonly ServiceMetric[] {
  // biome-ignore format: a table
  return [
    {
      name: 'flagmeter_http_requests_total',
      type: 'counter',
      help: 'HTTP requests by route and status.',
      labels: ['method', 'route', 'status'],
      *read() {
        for (const { method, route, statuses } of requests.routes)
          for (const [status, count] of statuses) yield [{ method, route, status: String(status) }, count];
      },
    },
    {
      name: 'flagmeter_http_request_duration_seconds',
      type: 'histogram',
      help: 'Time from the head of an HTTP request to its response.',
      labels: ['method', 'route'],
      *read() {
        for (const { method, route, statuses, durations } of requests.routes)
          if (statuses.size > 0) yield [{ method, route }, durations];
      },
    },
    counterBy('flagmeter_http_refusals_total', 'HTTP requests that were refused with a problem, by its code.', 'code',
      () => requests.codes),
  ];
}

function grpcMetrics(calls: CallTotals): readonly ServiceMetric[] {
  // biome-ignore format: a table
  return [
    {
      name: 'flagmeter_grpc_calls_total',
      type: 'counter',
      help: 'Finished gRPC calls by method and status.',
      labels: ['method', 'status'],
      *read() {
        for (const row of calls.methods)
          for (const [code, count] of row.ended())
            yield [{ method: row.method, status: statusName(code) }, count];
      },
    },
    histogramBy(
      'flagmeter_grpc_call_duration_seconds',
      'Time from the head of a gRPC call of one message to its response.',
      'method',
      function* () {
        for (const { method, durations } of calls.methods)
          if (durations.read().count > 0) yield [method, durations];
      },
    ),
  ];
}

function tokenMetrics(tokens: TokenTotals): readonly ServiceMetric[] {
  // biome-ignore format: a table
  return [
    counterBy('flagmeter_tokens_issued_total', 'Issued access tokens.', 'grant', () => tokens.issued),
    counter('flagmeter_tokens_invalidated_total', 'Access tokens that were invalidated before they expired.',
      () => tokens.invalidated),
    counterBy('flagmeter_tokens_rejected_total', "Refused access tokens: unknown_key if another store's key signed them, else invalid.", 'reason',
      () => tokens.refused),
  ];
}

function ingestMetrics({ counting: { ledger }, intake, accountStore, clock }: Core): readonly ServiceMetric[] {
  const { monitor } = intake;
  // biome-ignore format: a table
  return [
    counter('flagmeter_packets_committed_total', 'Packets and reports that are on disk.',
      () => intake.committedPackets),
    {
      name: 'flagmeter_ingest_refusals_total',
      type: 'counter',
      help: "Refused packets and reports, over any transport. Attributed messages are in the ledger of an application.",
      labels: ['code', 'attributed'],
      *read() {
        yield* refusals(ledger.attributed, 'true');
        yield* refusals(ledger.unattributed, 'false');
      },
    },
    gauge('flagmeter_queue_packets', 'Packets and reports that wait for the disk.', () => monitor.packets),
    gauge('flagmeter_queue_bytes', 'Their memory.', () => monitor.bytes),
    gauge('flagmeter_queue_oldest_seconds', 'Age of the oldest packet or report that waits for the disk.',
      () => monitor.oldest(clock.monotonic()) / 1000),
    histogram('flagmeter_commit_duration_seconds', 'Duration of a commit of packets and reports.',
      () => intake.commitTimes),
    histogram('flagmeter_batch_packets', 'Packets and reports per commit.', () => intake.batchSizes),
    counter('flagmeter_failed_commits_total', 'Failed commits. Nothing of a failed commit is stored.',
      () => intake.failedCommits),
    histogram('flagmeter_account_commit_duration_seconds', 'Duration of a commit of changes of accounts, sessions and tokens.',
      () => accountStore.commitTimes),
  ];
}

/**
 * Codes whose series must start at 0, so that their first refusal raises an alert. Prometheus does not count the first
 * value of a series as an increase.
 */
const watched: readonly RefusalCode[] = ['backpressure', 'spool_full', 'store_unavailable'];

function* refusals(codes: ReadonlyMap<RefusalCode, number>, attributed: 'true' | 'false') {
  for (const [code, count] of codes) yield [{ code, attributed }, count] as const;
  for (const code of watched) if (!codes.has(code)) yield [{ code, attributed }, 0] as const;
}

function journalMetrics({ usageStore }: Core): readonly ServiceMetric[] {
  const journals = () =>
    usageStore.committers.flatMap(({ journal }, at) =>
      journal === undefined ? [] : [[String(at + 1), journal] as const],
    );
  const byLane =
    <Value>(figure: (journal: JournalFigures) => Value) =>
    () =>
      journals().map(([lane, journal]) => [lane, figure(journal)] as const);
  const sum = (figure: (journal: JournalFigures) => number) => () =>
    journals().reduce((total, [, journal]) => total + figure(journal), 0);
  // biome-ignore format: a table
  return [
    gaugeBy('flagmeter_journal_bytes', 'Bytes of a journal that are not in the store yet.', 'lane',
      byLane(({ unfolded }) => unfolded.bytes)),
    gaugeBy('flagmeter_journal_frames', 'Commits in a journal that are not in the store yet.', 'lane',
      byLane(({ unfolded }) => unfolded.frames)),
    histogramBy('flagmeter_fold_duration_seconds', 'Duration of folding commits of a journal into the store.', 'lane',
      byLane(({ foldTimes }) => foldTimes)),
    counter('flagmeter_failed_folds_total', 'Failed folds of a journal, which are retried.',
      sum(({ failedFolds }) => failedFolds)),
    gauge('flagmeter_replayed_frames', 'Commits that startup found in the journals and folded.',
      sum(({ replay }) => replay.frames)),
    gauge('flagmeter_replay_duration_seconds', 'Duration of folding the commits that startup found in the journals.',
      () => Math.max(0, ...journals().map(([, { replay }]) => replay.seconds))),
  ];
}

function leakedKeys(directory: Core['directory']): number {
  return [...directory.applications.keys()].flatMap((id) => listLeakedKeys(directory, id)).length;
}

function storeMetrics(core: Core): readonly ServiceMetric[] {
  const { environments, disks, readers } = core;
  const byDisk = (figure: (space: DiskSpace) => number) => () =>
    disks.now().map((space) => [space.directory, figure(space)] as const);
  const byReader = (figure: 'seconds' | 'commits') => () =>
    readers.map((reader) => [reader.name, reader.look()[figure]] as const);
  // biome-ignore format: a table
  return [
    gauge('flagmeter_ready', '1 while the service accepts data, as in /readyz.',
      () => Number(checkReadiness(core).counting.ready)),
    gauge('flagmeter_managing', '1 while accounts and reports are available.',
      () => Number(checkReadiness(core).managing.ready)),
    gauge('flagmeter_api_keys_expiring', `API keys that expire within ${Math.max(...expiryDays)} days.`,
      () => expiringKeys(core.directory).length),
    gauge('flagmeter_leaked_keys', 'Backend keys that were seen in a packet.', () => leakedKeys(core.directory)),
    gauge('flagmeter_applications', 'Applications of all teams.', () => core.directory.applications.size),
    gaugeBy('flagmeter_store_bytes', 'File size of a store. Deleting data frees space inside the file, which does not shrink.', 'store',
      () => Object.entries(environments).map(([store, lmdb]) => [store, lmdb.fileIdentity.bytes()])),
    gaugeBy('flagmeter_disk_free_bytes', 'Free space on the disk of a directory.', 'directory',
      byDisk(({ free }) => free)),
    gaugeBy('flagmeter_disk_size_bytes', 'Size of the disk of a directory.', 'directory',
      byDisk(({ size }) => size)),
    gaugeBy('flagmeter_disk_low', '1 while less than 10 % or less than 1 GiB of a disk is free.', 'directory',
      byDisk((space) => Number(isLow(space)))),
    gaugeBy('flagmeter_oldest_reader_seconds', 'Age of the oldest reader of a store, which keeps freed pages from being reused.', 'store',
      byReader('seconds')),
    gaugeBy('flagmeter_oldest_reader_commits', 'Commits since the state that the oldest reader uses.', 'store',
      byReader('commits')),
  ];
}

function webhookMetrics({ deliverer }: Core): readonly ServiceMetric[] {
  // biome-ignore format: a table
  return [
    counterBy('flagmeter_webhook_attempts_total', 'Attempts of this process to deliver to webhooks.', 'outcome',
      () => Object.entries(deliverer.counts)),
    gauge('flagmeter_webhook_deliveries_waiting', 'Deliveries waiting for an attempt or a retry.',
      () => deliverer.waiting),
  ];
}

function processMetrics({ clock, threads }: Core): readonly ServiceMetric[] {
  const startedAt = (clock.now() - process.uptime() * 1000) / 1000;
  // biome-ignore format: a table
  return [
    histogramBy('flagmeter_event_loop_delay_seconds', 'Delay of due tasks in a thread; for a thread that commits or folds, the time that its tasks wait.', 'thread',
      () => threads.map(({ name, delays }) => [name, delays])),
    gaugeBy('flagmeter_build_info', 'Always 1.', 'version', () => [[version, 1]]),
    gauge('process_start_time_seconds', 'Unix time at which the process started.', () => startedAt),
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'CPU time of all threads, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
  ];
}

/**
 * The metrics of the listeners. A metric has no value if the runtime hides connections, or if the listeners do not use
 * TLS.
 */
function listenerMetrics({
  certificateExpiry,
  surplusClosed,
}: Pick<BoundListeners, 'certificateExpiry' | 'surplusClosed'>): readonly ServiceMetric[] {
  // biome-ignore format: a table
  return [
    counter('flagmeter_surplus_connections_closed_total', 'Connections closed because one address had too many, or because open files ran low.',
      surplusClosed),
    gauge('flagmeter_certificate_expiry_timestamp_seconds', 'Unix time at which the certificate in use expires.',
      () => seconds(certificateExpiry())),
  ];
}

/**
 * The metrics of scheduled backups and of the audit export. If one of these features is not configured, its metrics
 * have no values.
 */
function backupMetrics({ backups, audit }: Core): readonly ServiceMetric[] {
  const status = () => backups?.status;
  // biome-ignore format: a table
  return [
    counterBy('flagmeter_backups_total', 'Scheduled backups of this process.', 'result', () => {
      const { made, failed } = status() ?? {};
      return made === undefined || failed === undefined ? [] : Object.entries({ made, failed });
    }),
    gauge('flagmeter_backup_failing', '1 from a failed scheduled backup until the next successful one.',
      () => backups && Number(backups.status.trouble !== '')),
    gauge('flagmeter_backup_interval_seconds', 'Interval between scheduled backups.',
      () => seconds(status()?.everyMs)),
    gauge('flagmeter_backup_last_success_timestamp_seconds', 'Unix time of the last complete scheduled backup; 0 before the first one.',
      () => backups && seconds(backups.status.lastGoodAt ?? 0)),
    gauge('flagmeter_backup_last_duration_seconds', 'Duration of the last scheduled backup of this process, with its upload.',
      () => seconds(status()?.lastMs)),
    gauge('flagmeter_backup_last_bytes', 'Its size.', () => status()?.lastBytes),
    counterBy('flagmeter_audit_exports_total', 'Rounds of --audit-export.', 'result', () =>
      Object.entries(audit?.counts ?? {}),
    ),
  ];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

/** The metrics of a node. A single machine has no such metrics. */
function clusterMetrics({ usageStore, clock }: Core): readonly ServiceMetric[] {
  if (usageStore.status() === undefined) return [];
  const of = (read: (status: UsageStoreStatus) => number) => () => read(usageStore.status()!);
  const age = (since: number | undefined) => (since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000);
  const nodesIn = (wanted: string) => usageStore.status()!.nodes.filter(({ state }) => state === wanted);
  // biome-ignore format: a table
  return [
    gauge('flagmeter_engine_connected', '1 while this node is connected to PostgreSQL.',
      of(({ postgres }) => Number(postgres.connected))),
    counter('flagmeter_engine_commits_total', 'Commits in PostgreSQL.',
      of(({ postgres }) => postgres.commits)),
    counter('flagmeter_engine_commit_seconds_total', 'Total duration of the commits in PostgreSQL.',
      of(({ postgres }) => postgres.commitMs / 1000)),
    counter('flagmeter_engine_failovers_total', 'Number of failovers to another primary.',
      of(({ postgres }) => postgres.failovers)),
    gaugeBy('flagmeter_nodes', 'Nodes by state, as this node knows them.', 'state',
      () => ['up', 'silent', 'done', 'forgotten'].map((state) => [state, nodesIn(state).length])),
    gauge('flagmeter_log_lag_entries', 'Entries of the log that this node has not applied yet.',
      of(({ nodes, directory }) => nodes.find((node) => node.directory === directory)?.lag ?? 0)),
    gauge('flagmeter_log_bytes', 'Size of the log when this node last trimmed it.',
      of(({ log }) => log.bytes)),
    gauge('flagmeter_log_oldest_seconds', 'Age of the oldest entry that remained when this node last trimmed the log.',
      of(({ log }) => age(log.oldest))),
    counter('flagmeter_log_trimmed_entries_total', 'Entries of the log that this node has trimmed.',
      of(({ log }) => log.trimmed)),
    gauge('flagmeter_spool_bytes', "Size of this node's counts that are not in PostgreSQL.",
      of(({ spool }) => spool.bytes)),
    gauge('flagmeter_spool_oldest_seconds', 'Age of the oldest data that is not in PostgreSQL.',
      of(({ spool }) => age(spool.oldestUnshipped))),
    gauge('flagmeter_complete_through_timestamp_seconds', 'Unix time up to which reports include the counts of all nodes.',
      of(({ completeThrough }) => completeThrough / 1000)),
    gauge('flagmeter_refused_rows', 'Rows of counts that could not be applied.',
      of(({ refused }) => refused.rows)),
    gauge('flagmeter_set_aside_bytes', 'Size of the data that PostgreSQL lost and this node preserved.',
      of(({ setAsideBytes }) => setAsideBytes)),
    counter('flagmeter_rebases_total', 'Number of full reloads of all counts from PostgreSQL by this node.',
      of(({ rebases }) => rebases)),
  ];
}
