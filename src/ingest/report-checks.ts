import { type ErrorCode, Refusal } from '../errors.ts';
import { checkName, variantsPerPacketFeature } from './packet.ts';
import type { ReportHead } from './report.ts';

/** `stats` entries one usage report may carry. */
export const entriesPerUsageReport = 2_000;
/** `stats`, `counters` and `observations` that one metrics report may carry, taken together. */
export const entriesPerMetricsReport = 2_000;
/** Hashes of users that one report may carry, over all features and for the environment. */
export const hashesPerReport = 10_000;
/** Variants that one entry of a report may carry. */
export const variantsPerEntry = variantsPerPacketFeature;

const counted = {
  too_many_features: 'A report may carry # features at most',
  too_many_metrics: 'A report may carry # metrics at most',
  too_many_variants: 'A feature or metric of a report may carry # variants at most',
  too_many_hashes: 'A report may carry # user hashes at most',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** @throws {Refusal} `code` when there are more than `most` of what `code` counts */
export function checkSize(size: number, most: number, code: keyof typeof counted): void {
  if (size > most) throw new Refusal(code, counted[code].replace('#', String(most)));
}

/** @throws {Refusal} of status 400 when the key or a name cannot be one; whether they exist is not asked here */
export function checkHead({ appKey, environment, instanceName }: ReportHead): void {
  if (appKey === '' || appKey.length > 256) {
    throw new Refusal('invalid_body', 'appKey must be an application key of 1 to 256 characters');
  }
  checkName(environment, 'environment');
  if (instanceName) checkName(instanceName, 'instance');
}
