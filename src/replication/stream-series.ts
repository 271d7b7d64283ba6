import { type EnvironmentSeries, SeriesDictionary, type SeriesSink } from '../storage/commit/series-dictionary.ts';
import { seriesPerEnvironment, seriesRef } from '../storage/lmdb/blocks.ts';
import { keysIn, pairKey, prefixedKey, prefixKey } from '../storage/lmdb/key-prefix.ts';
import {
  featureItself,
  getFeatureName,
  type NewSeries,
  putSeries,
  type SeriesName,
  seriesName,
} from '../storage/lmdb/series.ts';
import { environmentOrdinal } from '../storage/lmdb/sketches.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { defaultSettings } from './entry.ts';
import type { ErasedNumbers, ReplicaState } from './replica-state.ts';

/** Returned instead of a ref (number of a series) if the stream has not named the series, or the name is invalid. */
export const unknownSeries = -1;
/** Returned instead of a ref if the environment of the series was deleted. */
export const erasedSeries = -2;

/** Maximum number of cached refs (numbers of series), about 20 MB. */
const maxKnown = 200_000;

/**
 * Maps the series of a stream to the series of the replica. Each node has its own numbers. A stream sends the name of a
 * series before its number, and the replica maps the name to a number of its own. All nodes together can exceed the
 * limits of names, so the replica also counts names beyond the limits under `__other__`, in the order of the log.
 *
 * `streamSeries`: key, big-endian: number of the stream (u32, see `StreamFacts`), environment (u32), ordinal (u32).
 * Value: the replica's ordinal (u32).
 */
export class StreamSeries {
  readonly #store: ReplicaStore;
  readonly #state: ReplicaState;
  readonly #erased: ErasedNumbers;
  #dictionary: SeriesDictionary;
  readonly #known = new Map<number, Map<number, number>>();
  #size = 0;
  #stream = 0;
  #ofStream = new Map<number, number>();

  constructor(store: ReplicaStore, state: ReplicaState, erased: ErasedNumbers) {
    this.#store = store;
    this.#state = state;
    this.#erased = erased;
    this.#dictionary = this.#openDictionary();
  }

  switchTo(stream: number): void {
    if (this.#size > maxKnown) this.#known.clear();
    if (this.#known.size === 0) this.#size = 0;
    this.#stream = stream;
    this.#ofStream = this.#known.get(stream) ?? new Map<number, number>();
    this.#known.set(stream, this.#ofStream);
  }

  /** Adds a series that the stream has named. Call it in a transaction. @returns true if the name is valid */
  add({ environment, ordinal, name }: NewSeries): boolean {
    if (this.#erased.hasEnvironment(environment)) return true;
    const own = this.#ownRef(environment, name);
    if (own === undefined) return false;
    this.#ofStream.set(seriesRef(environment, ordinal), own);
    this.#size += 1;
    this.#store.streamSeries.putSync(this.#key(environment, ordinal), prefixKey(own % seriesPerEnvironment));
    return true;
  }

  /** Returns the replica's ref for a ref of the stream, `unknownSeries` or `erasedSeries`. */
  of(ref: number): number {
    return this.#ofStream.get(ref) ?? this.#find(ref);
  }

  /** Returns the ordinal of a feature, under which its senders are stored. @param ref a series of the feature */
  ordinalOfFeature(ref: number): number {
    const ordinal = ref % seriesPerEnvironment;
    const environment = Math.floor(ref / seriesPerEnvironment);
    const name = ordinal === environmentOrdinal ? undefined : seriesName(this.#store, environment, ordinal);
    const feature = name === undefined ? undefined : getFeatureName(name);
    if (feature === undefined) return ordinal;
    return this.#dictionary.of(environment).findFirst(feature)?.ordinal ?? ordinal;
  }

  /** Removes series of a closed stream. Call it in a transaction. @returns number removed, at most `limit` */
  remove(stream: number, limit: number): number {
    this.#size -= this.#known.get(stream)?.size ?? 0;
    this.#known.delete(stream);
    const range = { start: prefixKey(stream), end: prefixKey(stream + 1), limit };
    const keys = keysIn(this.#store.streamSeries, range);
    for (const key of keys) this.#store.streamSeries.removeSync(key);
    return keys.length;
  }

  /** Drops the cache, after a change of the settings, an erasure, or a failed transaction. */
  forget(): void {
    this.#known.clear();
    this.#ofStream = new Map();
    this.#size = 0;
    this.#dictionary = this.#openDictionary();
  }

  #openDictionary(): SeriesDictionary {
    return new SeriesDictionary(this.#store, this.#state.get('settings') ?? defaultSettings);
  }

  #ownRef(environment: number, name: SeriesName): number | undefined {
    const sink: SeriesSink = { series: [], folded: 0, dropped: 0 };
    const ref = resolveRef(this.#dictionary.of(environment), name, sink);
    for (const each of sink.series) putSeries(this.#store, each);
    return ref;
  }

  #find(ref: number): number {
    const environment = Math.floor(ref / seriesPerEnvironment);
    const ordinal = ref % seriesPerEnvironment;
    const own = this.#read(environment, ordinal);
    this.#ofStream.set(ref, own);
    this.#size += 1;
    return own;
  }

  #read(environment: number, ordinal: number): number {
    if (this.#erased.hasEnvironment(environment)) return erasedSeries;
    if (ordinal === environmentOrdinal) return seriesRef(environment, ordinal);
    const value = this.#store.streamSeries.get(this.#key(environment, ordinal));
    return value === undefined ? unknownSeries : seriesRef(environment, value.readUInt32BE(0));
  }

  #key(environment: number, ordinal: number): Buffer {
    return prefixedKey(this.#stream, pairKey(environment, ordinal));
  }
}

function resolveRef(series: EnvironmentSeries, name: SeriesName, sink: SeriesSink): number | undefined {
  if (name.length === 1) return series.metric(name[0], sink);
  if (name.length === 3) return series.featureMetric(...name, sink);
  return name[1] === featureItself ? series.feature(name[0], sink) : series.variant(...name, sink);
}
