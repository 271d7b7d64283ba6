import type { ServiceMetric } from '../http/exposition-text.ts';
import { diskSpace } from '../store/disk-space.ts';
import { type Core, readinessOf } from './core.ts';
import { gauge } from './metric.ts';

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

function sizeMetrics({ environments, config }: Core): readonly ServiceMetric[] {
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
    gauge(
      'flagmeter_disk_free_bytes',
      'What may still be written to the disk of the data directory.',
      () => diskSpace(config.data).free,
    ),
    gauge(
      'flagmeter_disk_size_bytes',
      'Size of the disk of the data directory.',
      () => diskSpace(config.data).size,
    ),
  ];
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
