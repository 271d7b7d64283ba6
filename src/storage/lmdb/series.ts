import { blocksPerEnvironment, cellsPerBlock, seriesPerEnvironment } from './blocks.ts';
import { pairKey, prefixKey } from './key-prefix.ts';
import { environmentOrdinal } from './sketches.ts';
import { readAt, type Snapshot } from './snapshot.ts';
import type { UsageTables } from './usage.ts';

/**
 * The series dictionary. Key: environment (u32), ordinal (u32), big-endian. Value: the series' name as a JSON array:
 * `[feature, variant]` for counts (`[feature, '']` for the feature itself, which has users but no counts), `[metric]`
 * for a metric, and `[metric, feature, variant]` for a metric of a feature. An ordinal is never reused for another
 * name.
 */
export type SeriesName = readonly [feature: string, variant: string] | readonly [metric: string] | FeatureMetricName;

/** Used in place of a variant for the feature itself. No variant can have this empty name. */
export const featureItself = '';

type FeatureMetricName = readonly [metric: string, feature: string, variant: string];

/** The feature of a series; `undefined` for a metric without a feature. */
export function getFeatureName(name: SeriesName): string | undefined {
  return name.length === 3 ? name[1] : name.length === 2 ? name[0] : undefined;
}

export interface NewSeries {
  readonly environment: number;
  readonly ordinal: number;
  readonly name: SeriesName;
}

/** Puts a series into the dictionary. Call this in the transaction of the first cells that refer to the series. */
export function putSeries(store: Pick<UsageTables, 'series'>, series: NewSeries): void {
  store.series.putSync(pairKey(series.environment, series.ordinal), Buffer.from(JSON.stringify(series.name)));
}

/** The series of an environment by ascending ordinal. @param from the first ordinal */
export function* listSeries(
  store: Pick<UsageTables, 'series'>,
  environment: number,
  at?: Snapshot,
  from = 0,
): Generator<NewSeries> {
  const range = { start: pairKey(environment, from), end: pairKey(environment + 1, 0), ...readAt(at) };
  for (const { key, value } of store.series.getRange(range)) {
    yield { environment, ordinal: key.readUInt32BE(4), name: JSON.parse(value.toString()) };
  }
}

export function* allSeries(store: Pick<UsageTables, 'series'>): Generator<NewSeries> {
  for (const { key, value } of store.series.getRange()) {
    yield { environment: key.readUInt32BE(0), ordinal: key.readUInt32BE(4), name: JSON.parse(value.toString()) };
  }
}

export function seriesName(
  store: Pick<UsageTables, 'series'>,
  environment: number,
  ordinal: number,
  at?: Snapshot,
): SeriesName | undefined {
  const value = store.series.get(pairKey(environment, ordinal), readAt(at));
  return value === undefined ? undefined : JSON.parse(value.toString());
}

/** True if a series (see `seriesRef`) has a name. The series of a whole environment needs no name. */
export function isNamed(store: UsageTables, ref: number): boolean {
  const ordinal = ref % seriesPerEnvironment;
  if (ordinal === environmentOrdinal) return true;
  return store.series.doesExist(pairKey(Math.floor(ref / seriesPerEnvironment), ordinal));
}

/**
 * The times when each series was first and last seen. These times cannot be read from cells, because cells are rolled
 * up and finally deleted.
 *
 * Key, big-endian: environment (u32), block (u32, a series' ordinal divided by the cells of a block). Value,
 * little-endian: for each series of the block its first and last minute (u32 each, since the epoch), 0 for never.
 */
export type SeenBlock = Uint32Array;

export const seenWidth = 2;

/** Reads the first-seen and last-seen minutes of a block (see `computeBlock`) into a new array. */
export function readSeen(store: UsageTables, block: number): SeenBlock {
  const value = store.seen.get(seenKey(block));
  return value === undefined ? new Uint32Array(cellsPerBlock * seenWidth) : decodeSeen(value);
}

/** Puts a block. Call this in the transaction that puts the cells of the block. */
export function putSeen(store: UsageTables, block: number, minutes: SeenBlock): void {
  const value = Buffer.allocUnsafe(minutes.length * 4);
  for (const [at, minute] of minutes.entries()) value.writeUInt32LE(minute, at * 4);
  store.seen.putSync(seenKey(block), value);
}

/** The times when a series was first and last seen, in minutes since the epoch. */
interface SeenSeries {
  readonly ordinal: number;
  readonly first: number;
  readonly last: number;
}

/** The times when one series was first and last seen; `undefined` if the series was never seen. */
export function seenAt(
  store: UsageTables,
  environment: number,
  ordinal: number,
  at?: Snapshot,
): SeenSeries | undefined {
  const value = store.seen.get(pairKey(environment, Math.floor(ordinal / cellsPerBlock)), readAt(at));
  const place = (ordinal % cellsPerBlock) * seenWidth * 4;
  const last = value?.readUInt32LE(place + 4) ?? 0;
  return last === 0 ? undefined : { ordinal, first: value!.readUInt32LE(place), last };
}

/** The series of an environment that were ever seen, in the order of their ordinals. */
export function* listSeenSeries(store: UsageTables, environment: number, at?: Snapshot): Generator<SeenSeries> {
  const range = { start: prefixKey(environment), end: prefixKey(environment + 1), ...readAt(at) };
  for (const { key, value } of store.seen.getRange(range)) {
    const minutes = decodeSeen(value);
    for (let place = 0; place < cellsPerBlock; place += 1) {
      const last = minutes[place * seenWidth + 1]!;
      const ordinal = key.readUInt32BE(4) * cellsPerBlock + place;
      if (last > 0) yield { ordinal, first: minutes[place * seenWidth]!, last };
    }
  }
}

export function decodeSeen(value: Buffer): SeenBlock {
  return new Uint32Array(new Uint8Array(value).buffer); // All supported platforms are little-endian.
}

function seenKey(block: number): Buffer {
  return pairKey(Math.floor(block / blocksPerEnvironment), block % blocksPerEnvironment);
}
