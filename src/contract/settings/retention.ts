import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** Retention of counts and the audit log. */
export const retention = {
  keepMinutes: whole(
    'Retention',
    'Retention of minute buckets in hours; then they are rolled up into hours',
    {
      value: 'HOURS',
      minimum: 1,
      maximum: 8_760,
      default: 48,
    },
  ),
  keepHours: whole('Retention', 'Retention of hour buckets in days; then they are rolled up into days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 90,
  }),
  keepDays: whole('Retention', 'Retention of day buckets and unique users in days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 1_826,
  }),
  keepAudit: whole('Retention', 'Retention of the audit log in days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 400,
  }),
  auditExport: Type.Optional(
    file(
      'Retention',
      'Directory for copies of the audit log, one file a day, before --keep-audit removes it',
      {
        value: 'DIR',
      },
    ),
  ),
};
