import type { ServiceMetric } from '../http/exposition.ts';
import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { Core } from './core.ts';
import { counter, gauge, gaugeBy } from './metric.ts';

/** The metrics of a node. A single machine has none of them. */
export function clusterMetrics({ usageStore, clock }: Core): readonly ServiceMetric[] {
  if (usageStore.status() === undefined) return [];
  const of = (read: (status: UsageStoreStatus) => number) => () => read(usageStore.status()!);
  const age = (since: number | undefined) =>
    since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000;
  const nodesIn = (wanted: string) => usageStore.status()!.nodes.filter(({ state }) => state === wanted);
  // biome-ignore format: a table
  return [
    gauge('flagmeter_engine_connected', '1 while this node is connected to PostgreSQL.',
      of(({ postgres }) => Number(postgres.connected))),
    counter('flagmeter_engine_commits_total', 'Commits in PostgreSQL.',
      of(({ postgres }) => postgres.commits)),
    counter('flagmeter_engine_commit_seconds_total', 'Total duration of these commits.',
      of(({ postgres }) => postgres.commitMs / 1000)),
    counter('flagmeter_engine_failovers_total', 'Number of changes of the primary.',
      of(({ postgres }) => postgres.failovers)),
    gaugeBy('flagmeter_nodes', 'Nodes by state, as this node knows them.', 'state',
      () => ['up', 'silent', 'done', 'forgotten'].map((state) => [state, nodesIn(state).length])),
    gauge('flagmeter_log_lag_entries', 'Entries of the log that this node has not applied yet.',
      of(({ nodes, directory }) => nodes.find((node) => node.directory === directory)?.lag ?? 0)),
    gauge('flagmeter_log_bytes', 'Size of the log when this node last trimmed it.',
      of(({ log }) => log.bytes)),
    gauge('flagmeter_log_oldest_seconds', 'Age of the oldest remaining entry of the log then.',
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
