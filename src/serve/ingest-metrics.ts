import type { RefusalCode } from '../contract/refusals.ts';
import type { ServiceMetric } from '../http/exposition-text.ts';
import type { Core } from './core.ts';
import { counter, gauge } from './metric.ts';

/** Packets and reports: what came, what waits, and the commits. */
export function ingestMetrics(core: Core): readonly ServiceMetric[] {
  return [...countMetrics(core), ...queueMetrics(core), ...commitMetrics(core)];
}

function countMetrics({ counting: { ledger }, intake }: Core): readonly ServiceMetric[] {
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
        yield* refusals(ledger.attributed, 'true');
        yield* refusals(ledger.unattributed, 'false');
      },
    },
  ];
}

/** Their first refusals have to raise an alert: Prometheus sees the growth of a series only from its second value on. */
const watched: readonly RefusalCode[] = ['backpressure', 'spool_full', 'store_unavailable'];

function* refusals(codes: ReadonlyMap<RefusalCode, number>, attributed: 'true' | 'false') {
  for (const [code, count] of codes) yield [{ code, attributed }, count] as const;
  for (const code of watched) if (!codes.has(code)) yield [{ code, attributed }, 0] as const;
}

function queueMetrics({ intake: { monitor }, clock }: Core): readonly ServiceMetric[] {
  return [
    gauge('flagmeter_queue_packets', 'Packets and reports that wait for the disk.', () => monitor.packets),
    gauge('flagmeter_queue_bytes', 'Memory that they take.', () => monitor.bytes),
    gauge(
      'flagmeter_queue_oldest_seconds',
      'How long the oldest of them has been waiting.',
      () => monitor.oldest(clock.monotonic()) / 1000,
    ),
  ];
}

function commitMetrics({ intake, engine }: Core): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_commit_duration_seconds',
      type: 'histogram',
      help: 'What a commit of packets and reports takes.',
      read: () => intake.commitTimes,
    },
    {
      name: 'flagmeter_batch_packets',
      type: 'histogram',
      help: 'Packets and reports of a commit.',
      read: () => intake.batchSizes,
    },
    counter(
      'flagmeter_failed_commits_total',
      'Failed commits; nothing of them was kept.',
      () => intake.failedCommits,
    ),
    {
      name: 'flagmeter_account_commit_duration_seconds',
      type: 'histogram',
      help: 'What a commit of changes of accounts, sessions and tokens takes.',
      read: () => engine.commitTimes,
    },
  ];
}
