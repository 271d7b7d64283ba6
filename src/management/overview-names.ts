import { seenOf } from '../storage/lmdb/seen.ts';
import { featureItself, seriesOf, surplusName } from '../storage/lmdb/series.ts';
import { environmentOrdinal } from '../storage/lmdb/sketches.ts';
import type { Reading, Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';

/** The features of an environment, numbered, and which of its series belong to which. */
export interface Names {
  readonly features: readonly string[];
  /** The number of a series' feature, by ordinal; -1 for a metric of none. */
  readonly featureOf: readonly number[];
  /** The variant that a series counts, by ordinal. */
  readonly variantOf: readonly (string | undefined)[];
}

/** Series between two pauses. */
const stride = 512;

/** Every feature that packets and reports of an environment have named. */
export function* readNames(store: UsageTables, environment: number, at: Snapshot): Reading<Names> {
  const numbers = new Map<string, number>();
  const featureOf: number[] = [];
  const variantOf: (string | undefined)[] = [];
  for (const { ordinal, name } of seriesOf(store, environment, at)) {
    if (ordinal % stride === 0) yield;
    const feature = name.length === 3 ? name[1] : name[0];
    if (name.length === 1 || (name.length === 3 && feature === surplusName)) {
      featureOf[ordinal] = -1;
      continue;
    }
    const number = numbers.get(feature) ?? numbers.size;
    numbers.set(feature, number);
    featureOf[ordinal] = number;
    if (name.length === 2 && name[1] !== featureItself) variantOf[ordinal] = name[1];
  }
  return { features: [...numbers.keys()], featureOf, variantOf };
}

/** When the features were seen, by their numbers. Minutes since the epoch, 0 for never. */
export interface Sights {
  readonly first: Uint32Array;
  readonly last: Uint32Array;
  /** When anything of the environment was first seen; `Infinity` for never. */
  readonly earliest: number;
}

/** @returns `undefined` when a series was seen that is not in the names */
export function* readSights(
  store: UsageTables,
  environment: number,
  { features, featureOf }: Names,
  at: Snapshot,
): Reading<Sights | undefined> {
  const [first, last] = [new Uint32Array(features.length), new Uint32Array(features.length)];
  let earliest = Number.POSITIVE_INFINITY;
  for (const seen of seenOf(store, environment, at)) {
    if (seen.ordinal % stride === 0) yield;
    const feature = featureOf[seen.ordinal];
    if (feature === undefined && seen.ordinal !== environmentOrdinal) return undefined;
    earliest = Math.min(earliest, seen.first);
    if (feature === undefined || feature < 0) continue;
    first[feature] = first[feature] === 0 ? seen.first : Math.min(first[feature]!, seen.first);
    last[feature] = Math.max(last[feature]!, seen.last);
  }
  return { first, last, earliest };
}
