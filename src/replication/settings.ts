import type { SeriesLimits } from '../storage/commit/series-dictionary.ts';
import type { Retention } from '../storage/lmdb/retention.ts';

/** What all replicas must agree on, because it decides what they hold. The last in the log is true. */
export interface ReplicaSettings extends SeriesLimits, Retention {
  /** People an environment whose exposures are kept. */
  readonly identities: number;
  readonly exposureDays: number;
}

/** Until the log has others: those of a service that is started without any. */
export const defaultSettings: ReplicaSettings = {
  features: 2_000,
  variants: 64,
  metrics: 1_000,
  identities: 100_000,
  minutesMs: 48 * 3_600_000,
  hoursMs: 90 * 86_400_000,
  daysMs: 1_826 * 86_400_000,
  exposureDays: 30,
};

const names = Object.keys(defaultSettings) as (keyof ReplicaSettings)[];

/** Whether replicas with either settings hold the same. */
export function sameSettings(one: ReplicaSettings, other: ReplicaSettings): boolean {
  return names.every((name) => one[name] === other[name]);
}

/**
 * Checks the settings that an entry says.
 * @param before stays where an earlier version said them and does not know a setting
 * @throws {Error} when they are something else
 */
export function settingsAfter(before: ReplicaSettings, said: Partial<ReplicaSettings>): ReplicaSettings {
  const settings = { ...before, ...said };
  if (names.some((name) => !(Number.isSafeInteger(settings[name]) && settings[name] >= 0))) {
    throw new Error('a setting is not a whole number');
  }
  return settings;
}
