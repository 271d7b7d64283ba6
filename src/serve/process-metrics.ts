import { version } from '../../package.json' with { type: 'json' };
import type { ServiceMetric } from '../http/exposition-text.ts';
import type { Core } from './core.ts';
import { counter, gauge } from './metric.ts';

/** The process, its threads and its version. */
export function processMetrics({ clock, threads }: Core): readonly ServiceMetric[] {
  const startedAt = (clock.now() - process.uptime() * 1000) / 1000;
  return [
    {
      name: 'flagmeter_event_loop_delay_seconds',
      type: 'histogram',
      help: 'How late a thread comes to what is due; of a thread that commits or folds, how long that waits for it.',
      labels: ['thread'],
      *read() {
        for (const { name, delays } of threads) yield [{ thread: name }, delays];
      },
    },
    {
      name: 'flagmeter_build_info',
      type: 'gauge',
      help: 'Always 1; the label is the version.',
      labels: ['version'],
      read: () => [[{ version }, 1]],
    },
    gauge('process_start_time_seconds', 'Unix time at which the process started.', () => startedAt),
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'CPU time of all threads, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
  ];
}
