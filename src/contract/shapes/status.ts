import Type, { type Static } from 'typebox';
import { boolean, count, exampleTime, list, number, oneOf, orNull, shape, text, time } from './fields.ts';

const Node = Type.Object({
  directory: text('Random id of the data directory.'),
  name: text('Name, for people.'),
  version: text('Version of the program.'),
  state: oneOf(
    ['up', 'silent', 'done', 'forgotten'],
    '`silent`: no heartbeat for ten seconds. `done`: stopped, with all of its data in PostgreSQL. `forgotten`: removed permanently.',
  ),
  lastBeat: time('Time of the last heartbeat.'),
  lag: count('Log entries not applied yet.'),
  spoolBytes: count('Size of the counts of the node that are not in PostgreSQL.'),
  oldestUnshipped: orNull(time('Time of the oldest data in the spool; `null` if it is empty.')),
  through: time('Everything that the node accepted before this time is in PostgreSQL.'),
});

const Cluster = Type.Object(
  {
    node: text('Directory id of the responding node.'),
    connected: boolean('True if the node is connected to PostgreSQL.'),
    reason: text('Reason for the missing connection, for people; empty if connected.'),
    completeThrough: time('Everything that any node accepted before this time is in the reports of this node.'),
    spoolMaxBytes: count('Maximum size of the spool. Beyond it, packets are refused with 503.'),
    nodes: list(Node, 'All nodes, including the responding node.'),
    refusedRows: count('Rows of counts that PostgreSQL rejected.'),
    failovers: count('Number of changes of the primary since startup.'),
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
        start: time('Start of the first bucket, at the earliest the startup of the process.'),
        width: count('Width of a bucket in seconds.'),
        accepted: list(Type.Number(), 'Accepted packets and reports, per second.'),
        refused: list(Type.Number(), 'Refused packets, reports and mint requests, per second.'),
      },
      { description: 'The last ten minutes of the responding server, in buckets. The last bucket is incomplete.' },
    ),
    queue: Type.Object({
      waiting: count('Packets and reports waiting for the disk.'),
      limit: count('Maximum number of waiting packets and reports. Beyond it, they are refused with 503.'),
      oldestMs: number('Waiting time of the oldest packet or report, in milliseconds.'),
    }),
    commits: Type.Object({
      total: count('Commits of packets and reports since startup.'),
      perSecond: number('Commits per second.'),
      meanMs: orNull(number('Mean duration of recent commits in milliseconds; `null` without commits.')),
      failed: count('Failed commits since startup. None of their data was kept.'),
    }),
    ready: boolean('True if data is accepted, as in `/readyz`.'),
    reason: text('Reason why data is not accepted, for people; otherwise empty.'),
    backup: orNull(
      Type.Object({
        lastGoodAt: orNull(time('Time of the last complete backup; `null` without a backup.')),
        lastBytes: orNull(count('Size of the last complete backup, if this process created it.')),
        nextAt: orNull(time('Time of the next backup.')),
        trouble: text('Reason for the failure of the last attempt, for people; empty if it succeeded.'),
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
