import Type, { type Static } from 'typebox';
import { boolean, count, exampleTime, list, number, oneOf, orNull, shape, text, time } from './fields.ts';

const Node = Type.Object({
  directory: text('Id of the data directory of the node, chosen at random.'),
  name: text('Name, for people.'),
  version: text('Version of the program.'),
  state: oneOf(
    ['up', 'silent', 'done', 'forgotten'],
    'State of the node. `silent`: no heartbeat for ten seconds. `done`: the node has stopped, and all of its data is in PostgreSQL. `forgotten`: the node was removed permanently.',
  ),
  lastBeat: time('Time of the last heartbeat.'),
  lag: count('Number of log entries that the node has not applied yet.'),
  spoolBytes: count('Size of the counts of the node that are not in PostgreSQL.'),
  oldestUnshipped: orNull(time('Time of the oldest data in the spool; `null` if the spool is empty.')),
  through: time('Everything that the node accepted before this time is in PostgreSQL.'),
});

const Cluster = Type.Object(
  {
    node: text('Directory id of the responding node.'),
    connected: boolean('True if the node is connected to PostgreSQL.'),
    reason: text('Reason why the node is not connected, for people; empty if the node is connected.'),
    completeThrough: time('Reports of this node include everything that any node accepted before this time.'),
    spoolMaxBytes: count('Maximum size of the spool. While the spool is full, packets are refused with 503.'),
    nodes: list(Node, 'All nodes, including the responding node.'),
    refusedRows: count('Rows of counts that PostgreSQL rejected.'),
    failovers: count('Number of times that the primary has changed since startup.'),
    setAsideBytes: count('Size of the data that this node set aside because PostgreSQL had lost it.'),
    rebases: count('Number of times that the node has reloaded all counts from PostgreSQL since startup.'),
  },
  { description: 'Nodes that share a PostgreSQL; `null` on a single machine.' },
);
export type Cluster = Static<typeof Cluster>;

const exampleCluster = {
  node: 'a41f0c2d9be37f58a41f0c2d9be37f58',
  connected: true,
  reason: '',
  completeThrough: exampleTime,
  spoolMaxBytes: 4_294_967_296,
  nodes: [
    {
      directory: 'a41f0c2d9be37f58a41f0c2d9be37f58',
      name: 'flagmeter-1',
      version: '0.2.0',
      state: 'up' as const,
      lastBeat: exampleTime,
      lag: 0,
      spoolBytes: 65_536,
      oldestUnshipped: null,
      through: exampleTime,
    },
  ],
  refusedRows: 0,
  failovers: 0,
  setAsideBytes: 0,
  rebases: 0,
};

export const ServiceStatus = shape(
  'ServiceStatus',
  {
    at: time('Time of this status.'),
    packetsPerSecond: number('Accepted packets of all applications, per second.'),
    reportsPerSecond: number('Accepted usage and metrics reports by any transport, per second.'),
    refusedPerSecond: number('Refused packets, reports and mint requests, per second.'),
    recent: Type.Object(
      {
        start: time('Start of the first bucket. Buckets do not begin before the startup of the process.'),
        width: count('Width of a bucket in seconds.'),
        accepted: list(Type.Number(), 'Accepted packets and reports, per second.'),
        refused: list(Type.Number(), 'Refused packets, reports and mint requests, per second.'),
      },
      { description: 'The last ten minutes of the responding server, in buckets. The last bucket is incomplete.' },
    ),
    queue: Type.Object({
      waiting: count('Number of packets and reports that wait for their commit to disk.'),
      limit: count('Maximum number of waiting packets and reports. Further packets and reports are refused with 503.'),
      oldestMs: number('Waiting time of the oldest packet or report, in milliseconds.'),
    }),
    commits: Type.Object({
      total: count('Number of commits of packets and reports since startup.'),
      perSecond: number('Commits per second.'),
      meanMs: orNull(number('Mean duration of recent commits in milliseconds; `null` if there were no commits.')),
      failed: count('Number of failed commits since startup. The data of a failed commit is not kept.'),
    }),
    ready: boolean('True if the service accepts data. `/readyz` reports the same state.'),
    reason: text('Reason why the service does not accept data, for people; otherwise empty.'),
    backup: orNull(
      Type.Object({
        lastGoodAt: orNull(time('Time of the last complete backup; `null` if there is no backup.')),
        lastBytes: orNull(count('Size of the last complete backup, if this process created it.')),
        nextAt: orNull(time('Time of the next backup.')),
        trouble: text('Reason for the failure of the last attempt, for people; empty if the attempt succeeded.'),
      }),
    ),
    cluster: orNull(Cluster),
  },
  {
    at: exampleTime,
    packetsPerSecond: 412.5,
    reportsPerSecond: 2.1,
    refusedPerSecond: 0.2,
    recent: { start: exampleTime, width: 5, accepted: [410.2, 415.6], refused: [0, 0.4] },
    queue: { waiting: 3, limit: 10_000, oldestMs: 0.8 },
    commits: { total: 120_345, perSecond: 96.4, meanMs: 0.9, failed: 0 },
    ready: true,
    reason: '',
    backup: { lastGoodAt: exampleTime, lastBytes: 52_428_800, nextAt: exampleTime, trouble: '' },
    cluster: exampleCluster,
  },
);
export type ServiceStatus = Static<typeof ServiceStatus>;
