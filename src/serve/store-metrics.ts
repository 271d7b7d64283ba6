import type { ServiceMetric } from '../http/exposition-text.ts';
import type { Core } from './core.ts';
import { type DiskSpace, type DiskWatch, isLow } from './disk-watch.ts';
import { gauge } from './metric.ts';
import { readinessOf } from './readiness.ts';

/** Whether data is taken, and the stores and their disk. */
export function storeMetrics(core: Core): readonly ServiceMetric[] {
  return [...readinessMetrics(core), ...sizeMetrics(core), ...readerMetrics(core)];
}

function readinessMetrics(core: Core): readonly ServiceMetric[] {
  return [
    gauge('flagmeter_ready', '1 while data is accepted, as /readyz says.', () =>
      Number(readinessOf(core).counting.ready),
    ),
    gauge('flagmeter_managing', '1 while accounts can be managed and reports made.', () =>
      Number(readinessOf(core).managing.ready),
    ),
    gauge('flagmeter_applications', 'Applications of all teams.', () => core.directory.applications.size),
  ];
}

function sizeMetrics({ environments, disks }: Core): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_store_bytes',
      type: 'gauge',
      help: 'Size of the file of a store. It has room for what was removed, and does not shrink.',
      labels: ['store'],
      *read() {
        for (const [store, lmdb] of Object.entries(environments))
          yield [{ store }, lmdb.fileIdentity.bytes()];
      },
    },
    ofDisks(
      disks,
      'flagmeter_disk_free_bytes',
      'What may still be written to the disk of a directory.',
      ({ free }) => free,
    ),
    ofDisks(disks, 'flagmeter_disk_size_bytes', 'Size of the disk of a directory.', ({ size }) => size),
    ofDisks(disks, 'flagmeter_disk_low', '1 while less than 10 % or 1 GiB of a disk is free.', (space) =>
      Number(isLow(space)),
    ),
  ];
}

/** A gauge of each disk. */
function ofDisks(
  disks: DiskWatch,
  name: string,
  help: string,
  figure: (space: DiskSpace) => number,
): ServiceMetric {
  return {
    name,
    type: 'gauge',
    help,
    labels: ['directory'],
    read: () => disks.now().map((space) => [{ directory: space.directory }, figure(space)] as const),
  };
}

function readerMetrics({ readers }: Core): readonly ServiceMetric[] {
  const read = (figure: 'seconds' | 'commits') => () =>
    readers.map((reader) => [{ store: reader.name }, reader.look()[figure]] as const);
  return [
    {
      name: 'flagmeter_oldest_reader_seconds',
      type: 'gauge',
      help: 'How long the oldest reader of a store has kept freed pages from being reused.',
      labels: ['store'],
      read: read('seconds'),
    },
    {
      name: 'flagmeter_oldest_reader_commits',
      type: 'gauge',
      help: 'Commits since the state that this reader uses.',
      labels: ['store'],
      read: read('commits'),
    },
  ];
}
