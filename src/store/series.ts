import { readAt, type Snapshot } from './snapshot.ts';
import type { UsageStore } from './usage.ts';

/**
 * A series' durable name. Key: environment (u32), ordinal (u32), big-endian. Value: a JSON array, `[feature, variant]`
 * for counts (`[feature, '']` for the feature itself, which has users but no counts), `[metric]` for a metric and `[metric, feature, variant]` for a metric of a feature. An ordinal is never
 * given to another name.
 */
export type SeriesName =
  | readonly [feature: string, variant: string]
  | readonly [metric: string]
  | FeatureMetricName;

/** The name that takes what is over a limit: of a feature, a variant or a metric. */
export const surplusName = '__other__';

/** In the place of a variant: the feature itself. No variant can have this name. */
export const featureItself = '';

/** The name of the series that a metric of a feature has for one of the feature's variants. */
export type FeatureMetricName = readonly [metric: string, feature: string, variant: string];

export interface NewSeries {
  readonly environment: number;
  readonly ordinal: number;
  readonly name: SeriesName;
}

/** Puts one series into the dictionary; call it in the transaction of the first cells that refer to it. */
export function putSeries(store: UsageStore, series: NewSeries): void {
  store.series.putSync(
    seriesKey(series.environment, series.ordinal),
    Buffer.from(JSON.stringify(series.name)),
  );
}

/** The series of an environment in the order of their ordinals. */
export function* seriesOf(store: UsageStore, environment: number, at?: Snapshot): Generator<NewSeries> {
  const range = { start: seriesKey(environment, 0), end: seriesKey(environment + 1, 0), ...readAt(at) };
  for (const { key, value } of store.series.getRange(range)) {
    yield { environment, ordinal: key.readUInt32BE(4), name: JSON.parse(value.toString()) };
  }
}

/** The name of one series; `undefined` when there is none. */
export function seriesName(store: UsageStore, environment: number, ordinal: number): SeriesName | undefined {
  const value = store.series.get(seriesKey(environment, ordinal));
  return value === undefined ? undefined : JSON.parse(value.toString());
}

function seriesKey(environment: number, ordinal: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(environment, 0);
  key.writeUInt32BE(ordinal, 4);
  return key;
}
