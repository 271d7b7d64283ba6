import type { Copy } from '../../accounts/store/copy.ts';
import type { Plan } from '../../accounts/store/engine.ts';
import { changesAfter, type History, type Place } from '../../accounts/store/history.ts';
import type { Log } from '../../runtime/log.ts';
import type { SlowCommits } from '../../storage/lmdb/commit-watch.ts';
import type { StoreHealth } from '../../storage/lmdb/store-health.ts';
import type { EngineSession } from '../postgres/connection.ts';
import type { EngineKey } from '../postgres/engine-key.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import type { QueryResult } from '../postgres/statement.ts';
import type { Availability } from './availability.ts';
import {
  addNode,
  confirmedHistory,
  historyOf,
  readAccounts,
  readEngineId,
  timeOf,
} from './control-statements.ts';
import type { RecordCodec } from './record-codec.ts';

/** What an engine on PostgreSQL is given. */
export interface PostgresEngineDeps {
  readonly health: Pick<StoreHealth, 'ready' | 'failed'>;
  /** For reading only: what is written there is the node's own row. What waits for the lock of a change must not hold it up. */
  readonly reads: EngineSession;
  readonly changes: EngineSession;
  /** A third one, for failed sign-ins. */
  readonly signIns: EngineSession;
  /** The id of the data directory. */
  readonly directory: string;
  readonly key: EngineKey | undefined;
  /** Set by each answer of PostgreSQL's. */
  readonly clock: SharedClock;
  readonly log: Log;
  readonly slow?: SlowCommits;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Makes the plan that follows when the engine has lost changes: nothing of what was lost may be valid again. */
  readonly repair: () => Promise<Plan<void>>;
  /** Keeps what the copy holds, before records that the engine has lost are removed from it. */
  readonly setAside: () => Promise<void>;
}

/** What the parts of an engine share. */
export interface Shared extends PostgresEngineDeps {
  readonly copy: Copy;
  readonly codec: RecordCodec;
  readonly availability: Availability;
}

/** A history, and the place of the copy when it was asked for. */
export interface Confirmed extends History {
  readonly from: Place;
  readonly era: number;
}

/** Brings the copy to where the engine is, as confirmed by a synchronous commit. */
export class CatchUp {
  readonly #shared: Shared;
  #replacing: Promise<void> | undefined;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** What a transaction that begins now finds, and confirms. @throws {Error} when it is another engine */
  async confirm(): Promise<Confirmed> {
    const { reads, copy, directory } = this.#shared;
    const { place: from, era } = copy;
    const known = await this.#read(from);
    if (known.rows.length > 0) return { ...historyOf(known), from, era };
    this.#check(await reads.query(readEngineId));
    await reads.query(addNode(directory));
    return { ...historyOf(await this.#read(from)), from, era };
  }

  async #read(from: Place): Promise<QueryResult> {
    const { reads, clock, directory } = this.#shared;
    const asked = clock.monotonic();
    const found = await reads.query(confirmedHistory(directory, from));
    if (found.rows.length === 0) return found;
    this.#check(found);
    clock.heard(timeOf(found), asked);
    return found;
  }

  #check({ rows }: QueryResult): void {
    checkEngineId(this.#shared.copy.state.engine, rows[0]?.['engine']);
  }

  /** Applies what `confirm` has found; replaces the copy when its own place is not in that history. */
  async follow(history: Confirmed): Promise<void> {
    const { copy, codec } = this.#shared;
    if (!copy.hasAllTables) return this.replace();
    const news = changesAfter(history.from, history);
    if (news !== undefined) return copy.advance(codec.decodeChanges(news), history.era);
    if (copy.place.id === history.from.id) return this.replace();
    return this.follow(await this.confirm()); // The copy has gone on meanwhile.
  }

  /** Replaces the copy by the records of the engine. */
  replace(): Promise<void> {
    this.#replacing ??= this.#replace().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  async #replace(): Promise<void> {
    const { reads, copy, codec, log, setAside } = this.#shared;
    const { place } = copy;
    const { head, records, kept } = await readAccounts(reads, place.version);
    await this.confirm(); // Only a commit that writes confirms what was read.
    const isForgotten = kept.oldest > place.version;
    const isLoss = place.version > head.version || (!isForgotten && kept.id !== place.id);
    const writes = codec.decodeRecords(records);
    if (isLoss) await setAside();
    await copy.replace(writes, head, isLoss);
    const fields = { had: place.version, has: head.version, records: records.length };
    if (isLoss) log.error('the engine has lost changes of the accounts: all sessions will be ended', fields);
    else log.info('the accounts were loaded from the engine', fields);
  }
}

/** @throws {Error} when a directory was used with another engine */
export function checkEngineId(used: string, found: unknown): void {
  if (found === used) return;
  throw new Error(
    `This data directory was used with another engine (${used}, and --engine has ${String(found)}): give the right --engine, or an empty --data`,
  );
}
