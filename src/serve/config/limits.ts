import type { S3Settings } from '../../storage/backup/make-scheduled.ts';
import type { SeriesLimits } from '../../storage/commit/series-dictionary.ts';
import type { Retention } from '../../storage/lmdb/blocks.ts';
import type { Config } from './config.ts';

export function getSeriesLimits({ maxFeatures, maxVariants, maxMetrics }: Config): SeriesLimits {
  return { features: maxFeatures, variants: maxVariants, metrics: maxMetrics };
}

export function getRetention({ keepMinutes, keepHours, keepDays }: Config): Retention {
  const hourMs = 3_600_000;
  return { minutesMs: keepMinutes * hourMs, hoursMs: keepHours * 24 * hourMs, daysMs: keepDays * 24 * hourMs };
}

export function getS3Settings({ backupS3Endpoint, backupS3Region, backupS3Credentials }: Config): S3Settings {
  return { endpoint: backupS3Endpoint, region: backupS3Region, credentials: backupS3Credentials };
}
