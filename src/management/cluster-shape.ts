import Type, { type Static } from 'typebox';
import { count, flag, listOf, oneOf, orNull, text, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';

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
export const Cluster = Type.Object(
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

export const exampleCluster = {
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
