import Type, { type Static } from 'typebox';
import { count, exampleTime, flag, listOf, number, oneOf, orNull, shape, text, time } from './fields.ts';

const since = (what: string) => orNull(time(what));

const NodeShown = Type.Object({
  directory: text('Random id of its data directory.'),
  name: text('Its name, for people.'),
  version: text('Of the program.'),
  state: oneOf(
    ['up', 'silent', 'done', 'forgotten'],
    '`silent`: not heard of for ten seconds. `done`: it has ended, and all of it is in the engine. `forgotten`: removed for good.',
  ),
  lastBeat: time('When it was last heard of.'),
  lag: count('Entries of the log that it has not applied yet.'),
  spoolBytes: count('What it keeps for the engine.'),
  oldestUnshipped: since('Since when something waits there for the engine; `null` when nothing does.'),
  through: time('What it accepted before this time is in the engine.'),
});

/** How several machines do. */
const Cluster = Type.Object(
  {
    node: text('The directory of the node that answers.'),
    connected: flag('Whether it is connected to the engine.'),
    reason: text('Why not, for people; empty when it is.'),
    completeThrough: time('What any node accepted before this time is in its reports.'),
    spoolMaxBytes: count('How much it may keep for the engine: beyond it, packets are answered 503.'),
    nodes: listOf(NodeShown, 'All nodes, the answering one too.'),
    refusedRows: count('Rows of counts that could not be applied.'),
    failovers: count('How often another primary answered than before, since the start.'),
    setAsideBytes: count('What this node has set aside, because PostgreSQL had lost it.'),
    rebases: count('How often the node has loaded all counts from the engine anew, since the start.'),
  },
  { description: 'The nodes that share an engine; `null` on a single machine.' },
);

export type ClusterShown = Static<typeof Cluster>;

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
    at: time('When it was read.'),
    packetsPerSecond: number('Packets that were accepted, of all applications.'),
    reportsPerSecond: number('Usage and metrics reports that were accepted, by any transport.'),
    refusedPerSecond: number('Packets, reports and mint requests that were refused.'),
    queue: Type.Object({
      waiting: count('Packets and reports that wait for the disk.'),
      limit: count('How many may wait: beyond it they are answered 503.'),
      oldestMs: number('How long the oldest of them has been waiting, milliseconds.'),
    }),
    commits: Type.Object({
      total: count('Commits of packets and reports since the start.'),
      perSecond: number('Commits a second.'),
      meanMs: orNull(
        number('What one of these took on the average, milliseconds; `null` when there was none.'),
      ),
      failed: count('Commits that failed since the start: nothing of them was kept.'),
    }),
    ready: flag('Whether data is accepted, as `/readyz` says.'),
    reason: text('Why not, for people; empty when it is.'),
    backup: orNull(
      Type.Object({
        lastGoodAt: orNull(time('Of the last backup that is whole; `null` when there is none.')),
        lastBytes: orNull(count('Its size, when this process has made it.')),
        nextAt: orNull(time('When the next one is due.')),
        trouble: text('Why the last attempt failed, for people; empty when it did not.'),
      }),
    ),
    cluster: orNull(Cluster),
  },
  {
    at: exampleTime,
    packetsPerSecond: 412.5,
    reportsPerSecond: 2.1,
    refusedPerSecond: 0.2,
    queue: { waiting: 3, limit: 10_000, oldestMs: 0.8 },
    commits: { total: 120_345, perSecond: 96.4, meanMs: 0.9, failed: 0 },
    ready: true,
    reason: '',
    backup: { lastGoodAt: exampleTime, lastBytes: 52_428_800, nextAt: exampleTime, trouble: '' },
    cluster: exampleCluster,
  },
);

export type ServiceStatusShown = Static<typeof ServiceStatus>;
