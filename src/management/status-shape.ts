import type { Static } from 'typebox';
import Type from 'typebox';
import { count, flag, number, orNull, shape, text, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';
import { Cluster, exampleCluster } from './cluster-shape.ts';

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
