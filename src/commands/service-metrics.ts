import { version } from '../../package.json' with { type: 'json' };
import type { ServiceMetric } from '../http/exposition.ts';
import type { RequestTally } from '../http/request-tally.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import { type Core, readinessOf } from './core.ts';

/** The metrics that `GET /metrics` shows. Labels come from fixed sets: nothing that a stranger sends becomes one. */
export function serviceMetrics(core: Core, requests: RequestTally): readonly ServiceMetric[] {
  return [
    ...requestMetrics(requests),
    ...ingestMetrics(core),
    ...storeMetrics(core),
    ...processMetrics(core),
    ...clusterMetrics(core),
  ];
}

function requestMetrics(requests: RequestTally): readonly ServiceMetric[] {
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
      name: 'flagmeter_http_refusals_total',
      type: 'counter',
      help: 'HTTP requests that were refused with a problem, by its code.',
      labels: ['code'],
      read: () => byCode(requests.codes),
    },
  ];
}

function ingestMetrics({ counting: { ledger }, intake, clock }: Core): readonly ServiceMetric[] {
  const { monitor } = intake;
  return [
    counter(
      'flagmeter_packets_committed_total',
      'Packets and reports that are on disk.',
      () => intake.committedPackets,
    ),
    {
      name: 'flagmeter_ingest_refusals_total',
      type: 'counter',
      help: "Packets and reports that were refused, over any transport; attributed when an application's ledger shows it.",
      labels: ['code', 'attributed'],
      *read() {
        for (const [code, count] of ledger.attributed) yield [{ code, attributed: 'true' }, count];
        for (const [code, count] of ledger.unattributed) yield [{ code, attributed: 'false' }, count];
      },
    },
    gauge('flagmeter_queue_packets', 'Packets and reports that wait for the disk.', () => monitor.packets),
    gauge('flagmeter_queue_bytes', 'Memory that they take.', () => monitor.bytes),
    gauge(
      'flagmeter_queue_oldest_seconds',
      'How long the oldest of them has been waiting.',
      () => monitor.oldest(clock.monotonic()) / 1000,
    ),
    counter('flagmeter_commits_total', 'Commits of packets and reports.', () => intake.commits),
    counter('flagmeter_commit_seconds_total', 'Time that these commits took.', () => intake.commitMs / 1000),
    counter(
      'flagmeter_failed_commits_total',
      'Failed commits; nothing of them was kept.',
      () => intake.failedCommits,
    ),
  ];
}

function storeMetrics(core: Core): readonly ServiceMetric[] {
  const { readers } = core;
  const ages = readers.map((each) => [{ store: each.name }, each] as const);
  return [
    gauge('flagmeter_ready', '1 while data is accepted, as /readyz says.', () =>
      Number(readinessOf(core).counting.ready),
    ),
    gauge('flagmeter_managing', '1 while accounts can be managed and reports made.', () =>
      Number(readinessOf(core).managing.ready),
    ),
    {
      name: 'flagmeter_oldest_reader_seconds',
      type: 'gauge',
      help: 'How long the oldest reader of a store has kept freed pages from being reused.',
      labels: ['store'],
      read: () => ages.map(([labels, reader]) => [labels, reader.look().seconds] as const),
    },
    {
      name: 'flagmeter_oldest_reader_commits',
      type: 'gauge',
      help: 'Commits since the state that this reader uses.',
      labels: ['store'],
      read: () => ages.map(([labels, reader]) => [labels, reader.look().commits] as const),
    },
  ];
}

function processMetrics({ clock }: Core): readonly ServiceMetric[] {
  const startedAt = (clock.now() - process.uptime() * 1000) / 1000;
  return [
    {
      name: 'flagmeter_build_info',
      type: 'gauge',
      help: 'Always 1; the label is the version.',
      labels: ['version'],
      read: () => [[{ version }, 1]],
    },
    gauge('process_start_time_seconds', 'Unix time at which the process started.', () => startedAt),
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'CPU time of all threads, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
  ];
}

function counter(name: string, help: string, read: () => number): ServiceMetric {
  return { name, type: 'counter', help, read };
}

function gauge(name: string, help: string, read: () => number): ServiceMetric {
  return { name, type: 'gauge', help, read };
}

function* byCode(codes: ReadonlyMap<string, number>): Iterable<readonly [{ code: string }, number]> {
  for (const [code, count] of codes) yield [{ code }, count];
}
