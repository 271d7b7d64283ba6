import type { Labels, ServiceMetric } from '../http/exposition-text.ts';
import type { BackupStatus } from '../storage/backup/schedule.ts';
import type { Core } from './core.ts';

/** The backups that the server makes by itself; nothing when it makes none. */
export function backupMetrics({ backups }: Core): readonly ServiceMetric[] {
  const read = (figure: (status: BackupStatus) => number | undefined) => () => {
    const value = backups && figure(backups.status);
    return value === undefined ? [] : [[{}, value] as const];
  };
  return [
    {
      name: 'flagmeter_backups_total',
      type: 'counter',
      help: 'Scheduled backups of this process, by result.',
      labels: ['result'],
      read(): readonly (readonly [Labels, number])[] {
        if (backups === undefined) return [];
        const { made, failed } = backups.status;
        return [
          [{ result: 'made' }, made],
          [{ result: 'failed' }, failed],
        ];
      },
    },
    {
      name: 'flagmeter_backup_failing',
      type: 'gauge',
      help: '1 from a scheduled backup that failed to the next one that is made.',
      read: read(({ trouble }) => Number(trouble !== '')),
    },
    {
      name: 'flagmeter_backup_interval_seconds',
      type: 'gauge',
      help: 'How often a backup is made.',
      read: read(({ everyMs }) => everyMs / 1000),
    },
    {
      name: 'flagmeter_backup_last_success_timestamp_seconds',
      type: 'gauge',
      help: 'Unix time of the last scheduled backup that is whole; 0 while there is none.',
      read: read(({ lastGoodAt = 0 }) => lastGoodAt / 1000),
    },
    {
      name: 'flagmeter_backup_last_duration_seconds',
      type: 'gauge',
      help: 'What the last scheduled backup of this process took, with its upload.',
      read: read(({ lastMs }) => lastMs && lastMs / 1000),
    },
    {
      name: 'flagmeter_backup_last_bytes',
      type: 'gauge',
      help: 'Its size.',
      read: read(({ lastBytes }) => lastBytes),
    },
  ];
}
