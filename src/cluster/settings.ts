import type { SeriesLimits } from '../commit/series-dictionary.ts';
import type { Retention } from '../store/retention.ts';

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

/** The body of an entry of kind `settings`. */
export function encodeSettings(settings: ReplicaSettings): Buffer {
  return Buffer.from(JSON.stringify(settings, names));
}

/**
 * Reads what `encodeSettings` wrote.
 * @param before stays where an earlier version wrote them and does not know a setting
 * @throws {Error} when it is something else
 */
export function decodeSettings(body: Buffer, before: ReplicaSettings): ReplicaSettings {
  const read = { ...before, ...JSON.parse(body.toString()) } as ReplicaSettings;
  if (names.some((name) => !(Number.isSafeInteger(read[name]) && read[name] >= 0))) {
    throw new Error('a setting is no whole number');
  }
  return read;
}
