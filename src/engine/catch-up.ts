import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import type { QueryResult } from '../postgres/statement.ts';
import type { AccountChange, Place } from './account-change.ts';
import {
  addNode,
  confirmedHistory,
  historyOf,
  keptChanges,
  placeOf,
  readEngineId,
  readHead,
  readRecords,
  recordsOf,
  repeatableRead,
  timeOf,
} from './control-statements.ts';
import type { Copy } from './copy.ts';
import type { Write } from './engine.ts';
import { changesAfter, type History, type StoredChange } from './history.ts';
import type { RecordCodec } from './record-codec.ts';

export interface CatchUpDeps {
  readonly copy: Copy;
  /** For reading only: what is written there is the node's own row. */
  readonly connection: EngineSession;
  /** The id of the data directory. */
  readonly directory: string;
  readonly codec: RecordCodec;
  readonly clock: SharedClock;
  readonly log: Log;
  /** Keeps what the copy holds, before records that the engine has lost are removed from it. */
  readonly setAside: () => Promise<void>;
}

/** A history, and the place of the copy when it was asked for. */
export interface Confirmed extends History {
  readonly from: Place;
  readonly era: number;
}

/** Brings the copy to where the engine is, as confirmed by a synchronous commit. */
export class CatchUp {
  readonly #deps: CatchUpDeps;
  #replacing: Promise<void> | undefined;
  #isRightEngine = false;

  constructor(deps: CatchUpDeps) {
    this.#deps = deps;
  }

  /** What a transaction that begins now finds, and confirms. */
  async confirm(): Promise<Confirmed> {
    const { connection, copy, directory } = this.#deps;
    if (!this.#isRightEngine) await this.#checkEngine();
    const { place: from, era } = copy;
    const known = await this.#read(from);
    if (known.rows.length > 0) return { ...historyOf(known), from, era };
    await connection.query(addNode(directory));
    return { ...historyOf(await this.#read(from)), from, era };
  }

  async #read(from: Place): Promise<QueryResult> {
    const { connection, clock, directory } = this.#deps;
    const asked = clock.monotonic();
    const found = await connection.query(confirmedHistory(directory, from));
    if (found.rows.length > 0) clock.heard(timeOf(found), asked);
    return found;
  }

  /** Applies what `confirm` has found; replaces the copy when its own place is not in that history. */
  async follow(history: Confirmed): Promise<void> {
    const { copy } = this.#deps;
    if (!copy.hasAllTables) return this.replace();
    const news = changesAfter(history.from, history);
    if (news !== undefined) return copy.advance(this.changes(news), history.era);
    if (copy.place.id === history.from.id) return this.replace();
    return this.follow(await this.confirm()); // The copy has gone on meanwhile.
  }

  /** Reads changes as they stand in the engine. @throws {Error} when one of their secrets cannot be read */
  changes(stored: readonly StoredChange[]): AccountChange[] {
    return stored.map(({ version, id, writes }) => ({
      version,
      id,
      writes: this.#deps.codec.decodeChange(writes ?? '[]'),
    }));
  }

  /** Replaces the copy by the records of the engine. */
  replace(): Promise<void> {
    this.#replacing ??= this.#replace().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  async #replace(): Promise<void> {
    const { connection, copy, codec, log } = this.#deps;
    const { place } = copy;
    const { head, records, isLoss } = await connection.transaction(async (run) => {
      const [, engine, headRow, kept, found] = await Promise.all([
        run(repeatableRead),
        run(readEngineId),
        run(readHead),
        run(keptChanges(place.version)),
        run(readRecords),
      ]);
      checkEngineId(copy.state.engine, engine.rows[0]?.['id']);
      const end = placeOf(headRow);
      const { oldest, id } = kept.rows[0]!;
      const isAhead = place.version > end.version;
      const isForgotten = oldest === null || Number(oldest) > place.version;
      const isOther = !isForgotten && String(id) !== place.id;
      return { head: end, records: recordsOf(found, end), isLoss: place.version > 0 && (isAhead || isOther) };
    });
    await this.confirm(); // Only a commit that writes confirms what was read.
    const writes = records.map((record) => codec.decode(record)).filter((write) => write !== undefined);
    if (isLoss) await this.#deps.setAside();
    await copy.replace(writes as Write[], head, isLoss);
    const fields = { had: place.version, has: head.version, records: records.length };
    if (isLoss) log.error('the engine has lost changes of the accounts: all sessions will be ended', fields);
    else log.info('the accounts were loaded from the engine', fields);
  }

  async #checkEngine(): Promise<void> {
    const { connection, copy } = this.#deps;
    const { rows } = await connection.query(readEngineId);
    checkEngineId(copy.state.engine, rows[0]?.['id']);
    this.#isRightEngine = true;
  }
}

/** @throws {Error} when a directory was used with another engine */
export function checkEngineId(used: string, found: unknown): void {
  if (found === used) return;
  throw new Error(
    `This data directory was used with another engine (${used}, and --engine has ${String(found)}): give the right --engine, or an empty --data`,
  );
}
