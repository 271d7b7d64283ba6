import type { ServiceMetric } from '../http/exposition-text.ts';
import type { NodeStatus, UsageEngineStatus } from '../storage/commit/usage-engine.ts';
import type { Core } from './core.ts';

type Read = (status: UsageEngineStatus) => number;

const states: readonly NodeStatus['state'][] = ['up', 'silent', 'done', 'forgotten'];

/** What only several machines have: none of it on one. */
export function clusterMetrics(core: Core): readonly ServiceMetric[] {
  if (core.usageEngine.status() === undefined) return [];
  return [...engineMetrics(core), ...nodeMetrics(core), ...countMetrics(core)];
}

function engineMetrics(core: Core): readonly ServiceMetric[] {
  const { gauge, counter } = figuresOf(core);
  return [
    gauge('engine_connected', '1 while this node is connected to the engine.', ({ engine }) =>
      Number(engine.connected),
    ),
    counter('engine_commits_total', 'Commits to the engine.', ({ engine }) => engine.commits),
    counter(
      'engine_commit_seconds_total',
      'Time that these commits took.',
      ({ engine }) => engine.commitMs / 1000,
    ),
    counter(
      'engine_failovers_total',
      'How often another primary answered than before.',
      ({ engine }) => engine.failovers,
    ),
  ];
}

function nodeMetrics(core: Core): readonly ServiceMetric[] {
  const { gauge } = figuresOf(core);
  const { usageEngine } = core;
  const age = ageOf(core);
  return [
    {
      name: 'flagmeter_nodes',
      type: 'gauge',
      help: 'Nodes of the engine by state, as this node knows them.',
      labels: ['state'],
      read: () => {
        const { nodes } = usageEngine.status()!;
        return states.map((state) => [{ state }, nodes.filter((node) => node.state === state).length]);
      },
    },
    gauge(
      'log_lag_entries',
      'Entries of the log that this node has not applied yet.',
      ({ nodes, directory }) => nodes.find((node) => node.directory === directory)?.lag ?? 0,
    ),
    ...logMetrics(core),
    gauge('spool_bytes', 'What this node keeps for the engine.', ({ spool }) => spool.bytes),
    gauge(
      'spool_oldest_seconds',
      'How long the oldest of what is not in the engine has been waiting.',
      ({ spool }) => age(spool.oldestUnshipped),
    ),
  ];
}

function logMetrics(core: Core): readonly ServiceMetric[] {
  const { gauge, counter } = figuresOf(core);
  const age = ageOf(core);
  return [
    gauge('log_bytes', 'Size of the log when this node last trimmed it.', ({ log }) => log.bytes),
    gauge('log_oldest_seconds', 'Age of the oldest entry that was left of the log then.', ({ log }) =>
      age(log.oldest),
    ),
    counter(
      'log_trimmed_entries_total',
      'Entries of the log that this node has trimmed.',
      ({ log }) => log.trimmed,
    ),
  ];
}

function countMetrics(core: Core): readonly ServiceMetric[] {
  const { gauge, counter } = figuresOf(core);
  return [
    gauge(
      'complete_through_timestamp_seconds',
      'Unix time until when reports have what all nodes took.',
      ({ completeThrough }) => completeThrough / 1000,
    ),
    gauge('refused_rows', 'Rows of counts that could not be applied.', ({ refused }) => refused.rows),
    gauge(
      'set_aside_bytes',
      'Size of the data that PostgreSQL lost and this node kept.',
      ({ setAsideBytes }) => setAsideBytes,
    ),
    counter(
      'rebases_total',
      'How often this node has loaded all counts from the engine anew.',
      ({ rebases }) => rebases,
    ),
  ];
}

function ageOf({ clock }: Core) {
  return (since: number | undefined) => (since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000);
}

function figuresOf({ usageEngine }: Core) {
  const figure =
    (type: 'gauge' | 'counter') =>
    (name: string, help: string, read: Read): ServiceMetric => ({
      name: `flagmeter_${name}`,
      type,
      help,
      read: () => read(usageEngine.status()!),
    });
  return { gauge: figure('gauge'), counter: figure('counter') };
}
