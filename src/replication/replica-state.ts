import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import { readAt, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { DeltaHead } from './delta.ts';
import type { Horizon } from './entry.ts';
import type { LogPosition } from './postgres/log-position.ts';
import type { ReplicaSettings } from './settings.ts';

/**
 * What a replica knows of itself. Names that begin with `own:` are of this node only; the others come from the log, so they are
 * the same on all nodes, and part of a snapshot.
 */
export interface ReplicaFacts {
  'own:applied': LogPosition;
  /** While a snapshot is being loaded. */
  'own:loading': boolean;
  /** How many snapshots were loaded. */
  'own:loads': number;
  settings: ReplicaSettings;
  /** The hour (since the epoch) up to which what is over its retention is gone. */
  retired: number;
  /** People who were forgotten at this position or before are not remembered any more. */
  forgottenUntil: number;
  /** Streams that were seen so far. */
  streams: number;
  /** What the last horizon says of all nodes. */
  reached: Pick<Horizon, 'through' | 'now' | 'nodes'>;
  /** See `ChangedDays`: the days that entries up to this position changed are noted. */
  daysMarked: number;
  /** See `ChangedDays`: some of the days that entries up to this position changed are not noted. */
  daysUnmarked: number;
  [stream: `stream:${string}`]: StreamFacts;
}

/**
 * What is known of a stream: the number of its series in `streamSeries`, and what its last delta says of itself. It is kept when
 * the stream is closed: a database that is filled from this replica must not accept its deltas again.
 */
export interface StreamFacts extends Pick<DeltaHead, 'seq' | 'through' | 'since' | 'version'> {
  readonly number: number;
  readonly isClosed?: true;
}

/** The facts, kept in memory as far as they were asked for. */
export class ReplicaState {
  readonly #store: Pick<ReplicaStore, 'replica'>;
  readonly #at: Snapshot | undefined;
  readonly #known = new Map<string, unknown>();

  /** @param at if the facts are those of a snapshot */
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

  /** The streams of which something is known. */
  streams(): string[] {
    const range = { start: Buffer.from(streamPrefix), end: Buffer.from('stream;') };
    const keys = Array.from(this.#store.replica.getKeys(range), (key) => key.toString());
    return keys.map((key) => key.slice(streamPrefix.length));
  }

  /** Drops what is in memory: after a commit that failed, the store is the truth. */
  forget(): void {
    this.#known.clear();
  }
}

const streamPrefix = 'stream:';
