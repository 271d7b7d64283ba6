import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** How long counts and the audit log are stored. */
export const retention = {
  keepMinutes: whole('Retention', 'Hours that minute buckets are kept; then they are hours', {
    value: 'HOURS',
    minimum: 1,
    maximum: 8_760,
    default: 48,
  }),
  keepHours: whole('Retention', 'Days that hour buckets are kept; then they are days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 90,
  }),
  keepDays: whole('Retention', 'Days that day buckets and unique users are kept', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 1_826,
  }),
  keepAudit: whole('Retention', 'Days that the audit log is kept', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 400,
  }),
  auditExport: Type.Optional(
    file(
      'Retention',
      'Directory that the audit log is copied to, a file a day, before --keep-audit takes it',
      {
        value: 'DIR',
      },
    ),
  ),
};
