import type { SeriesLimits } from '../storage/commit/series-dictionary.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';

/** Settings that all replicas must share, because their content depends on them. The last ones in the log apply. */
export interface ReplicaSettings extends SeriesLimits, Retention {
  /** Maximum number of people of an environment whose exposures are kept. */
  readonly identities: number;
  readonly exposureDays: number;
}

/** The defaults of the service, until the log has others. */
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

export function sameSettings(one: ReplicaSettings, other: ReplicaSettings): boolean {
  return names.every((name) => one[name] === other[name]);
}

/**
 * Checks the settings of an entry.
 * @param before used for settings that an earlier version does not log
 * @throws {Error} if they are invalid
 */
export function settingsAfter(before: ReplicaSettings, said: Partial<ReplicaSettings>): ReplicaSettings {
  const settings = { ...before, ...said };
  if (names.some((name) => !(Number.isSafeInteger(settings[name]) && settings[name] >= 0))) {
    throw new Error('a setting is not a whole number');
  }
  return settings;
}
