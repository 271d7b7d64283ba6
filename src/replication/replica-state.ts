import { readAt, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { DeltaHead } from './delta.ts';
import type { Horizon } from './entry.ts';
import type { LogPosition } from './postgres/log-position.ts';
import type { ReplicaSettings } from './settings.ts';

/** The state of a replica besides its counts. Names with `own:` are of this node. The others follow from the log, and are in snapshots. */
interface ReplicaFacts {
  'own:applied': LogPosition;
  'own:loading': boolean;
  'own:loads': number;
  settings: ReplicaSettings;
  /** The hour (since the epoch) up to which retention was applied. */
  retired: number;
  /** People forgotten at this position or before are no longer listed. */
  forgottenUntil: number;
  streams: number;
  reached: Pick<Horizon, 'through' | 'now' | 'nodes'>;
  /** See `ChangedDays`: days changed by entries up to this position are listed. */
  daysMarked: number;
  /** See `ChangedDays`: some days changed by entries up to this position are not listed. */
  daysUnmarked: number;
  [stream: `stream:${string}`]: StreamFacts;
}

/**
 * The number of a stream in `streamSeries`, and the head of its last delta. Kept after the stream is closed: a database that is filled
 * from this replica must not accept its deltas again.
 */
export interface StreamFacts extends Pick<DeltaHead, 'seq' | 'through' | 'since' | 'version'> {
  readonly number: number;
  readonly isClosed?: true;
}

/** Reads and caches the facts. */
export class ReplicaState {
  readonly #store: Pick<ReplicaStore, 'replica'>;
  readonly #at: Snapshot | undefined;
  readonly #known = new Map<string, unknown>();

  /** @param at to read those of a snapshot */
  constructor(store: Pick<ReplicaStore, 'replica'>, at?: Snapshot) {
    this.#store = store;
    this.#at = at;
  }

  get<Name extends keyof ReplicaFacts>(name: Name): ReplicaFacts[Name] | undefined {
    if (this.#known.has(String(name))) return this.#known.get(String(name)) as ReplicaFacts[Name] | undefined;
    const value = this.#store.replica.get(Buffer.from(String(name)), readAt(this.#at));
    const fact = value === undefined ? undefined : (JSON.parse(value.toString()) as ReplicaFacts[Name]);
    this.#known.set(String(name), fact);
    return fact;
  }

  /** Call it in a transaction. */
  set<Name extends keyof ReplicaFacts>(name: Name, fact: ReplicaFacts[Name]): void {
    this.#known.set(String(name), fact);
    this.#store.replica.putSync(Buffer.from(String(name)), Buffer.from(JSON.stringify(fact)));
  }

  /** Call it in a transaction. */
  remove(name: keyof ReplicaFacts): void {
    this.#known.delete(String(name));
    this.#store.replica.removeSync(Buffer.from(String(name)));
  }

  streams(): string[] {
    const range = { start: Buffer.from(streamPrefix), end: Buffer.from('stream;') };
    const keys = Array.from(this.#store.replica.getKeys(range), (key) => key.toString());
    return keys.map((key) => key.slice(streamPrefix.length));
  }

  /** Drops the cache after a failed transaction. */
  forget(): void {
    this.#known.clear();
  }
}

const streamPrefix = 'stream:';
