import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { NewerEntry, type Refusal } from './apply-entry.ts';
import { nothingApplied } from './entry.ts';
import { firstMissing, readEntries } from './follow.ts';
import { SnapshotUnreadable } from './load-snapshot.ts';
import type { Replica } from './replica.ts';
import { newestSnapshot, partsOf } from './shared-snapshots.ts';

/** A snapshot that cannot be read is read again after this time: in the meantime another node may have made one. */
const unreadableMs = 60_000;

/** Between two calls of `meanwhile` while something waits. */
const meanwhileMs = 250;

/** A read of so many entries is of a backlog. */
const backlogEntries = 64;
/** How long a call works on a backlog before it commits, ms: nothing waits for less than its end. */
const backlogStepMs = 50;

/** Rows that are shown to people: so many tell enough, and each beat of each node counts them. */
const maxRefused = 1000;

export interface FollowingDeps {
  readonly session: EngineSession;
  readonly replica: Replica;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Keeps what the replica holds, in the data directory: see `SetAside`. */
  readonly setAside: () => Promise<unknown>;
  /** Is called now and then while something takes long. */
  readonly meanwhile: () => Promise<void>;
}

/** The engine has lost a part of the log. What the replica holds may be all that is left of it, so it stays. */
export class BrokenLog extends Error {
  override readonly name = 'BrokenLog';

  constructor(missing: number) {
    super(
      `Cannot follow the log: the engine does not have its entry ${missing}, and no snapshot goes beyond it; if that stays so for some minutes, restore the database from a backup`,
    );
  }
}

/** Brings the replica to the end of the log: it applies what follows, or loads a snapshot when nothing does. */
export class Following {
  readonly #deps: FollowingDeps;
  #rebases = 0;
  #isLoading = false;
  #newer: NewerEntry | undefined;
  /** The last snapshot that could not be read. */
  #unreadable: { readonly snapshot: string; readonly at: number; readonly error: unknown } | undefined;

  constructor(deps: FollowingDeps) {
    this.#deps = deps;
  }

  /** How often the replica was emptied, and a snapshot loaded. */
  get rebases(): number {
    return this.#rebases;
  }

  /** A later version of the program wrote the next entry: this one can only go on to count. */
  get newer(): NewerEntry | undefined {
    return this.#newer;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /**
   * Applies some of what follows in the log.
   * @returns what was applied, by kinds; empty when the replica is at the end
   * @throws {EngineError}
   * @throws {BrokenLog}
   */
  async step(): Promise<ReadonlySet<string>> {
    if (this.#newer !== undefined) return new Set();
    try {
      return await this.#step();
    } catch (error) {
      if (!(error instanceof NewerEntry)) throw error;
      this.#newer = error;
      this.#deps.log.error('the log cannot be applied', { error });
      return new Set();
    }
  }

  async #step(): Promise<ReadonlySet<string>> {
    const { session, replica } = this.#deps;
    if (replica.isLoading) await this.#load('it was not loaded to its end', false);
    const next = await readEntries(session, replica.applied);
    if (!next.known) {
      await this.#load(next.reason, next.isLost === true);
      return new Set(['snapshot']);
    }
    const stepMs = next.entries.length < backlogEntries ? undefined : backlogStepMs;
    let rest = next.entries;
    while (rest.length > 0) {
      const { count, refused } = replica.apply(rest, stepMs);
      rest = rest.slice(count);
      for (const refusal of refused) await this.#tellRefused(refusal);
      await setImmediate(); // What others have asked for meanwhile is answered.
      await this.#deps.meanwhile();
    }
    return new Set(next.entries.map(({ kind }) => kind));
  }

  /** @param isLost what the replica holds may be nowhere else */
  async #load(reason: string, isLost: boolean): Promise<void> {
    const { session, replica, log } = this.#deps;
    const from = replica.applied;
    const snapshot = await newestSnapshot(session);
    const missing = await firstMissing(session, snapshot?.applied ?? nothingApplied);
    if (missing !== undefined) throw new BrokenLog(missing);
    this.#passOverUnreadable(snapshot?.snapshot);
    if (isLost) await this.#setAside();
    this.#isLoading = true;
    log.warn('the replica is loaded anew', {
      reason,
      from: from.position,
      to: snapshot?.applied.position ?? 0,
    });
    if (snapshot === undefined) await replica.clear();
    else await this.#read(snapshot.snapshot);
    this.#isLoading = false;
    this.#rebases += 1;
    log.info('the replica is loaded', { position: replica.applied.position });
  }

  async #setAside(): Promise<void> {
    let isOver = false;
    const kept = this.#deps.setAside().finally(() => {
      isOver = true;
    });
    kept.catch(() => {}); // `meanwhile` may fail first.
    while (!isOver) {
      await Promise.race([kept, setTimeout(meanwhileMs)]);
      await this.#deps.meanwhile();
    }
    await kept;
  }

  async #read(snapshot: string): Promise<void> {
    const { session, replica, clock } = this.#deps;
    try {
      await replica.load(this.#slowly(partsOf(session, snapshot)));
    } catch (error) {
      if (error instanceof SnapshotUnreadable) this.#unreadable = { snapshot, at: clock.monotonic(), error };
      throw error;
    }
  }

  /** It may be large: reading it with each turn would load the engine and fill the log. @throws {SnapshotUnreadable} */
  #passOverUnreadable(snapshot: string | undefined): void {
    if (this.#unreadable === undefined || this.#unreadable.snapshot !== snapshot) return;
    if (this.#deps.clock.monotonic() - this.#unreadable.at < unreadableMs) throw this.#unreadable.error;
  }

  async *#slowly(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      yield part;
      await this.#deps.meanwhile();
    }
  }

  /** Shows it to people. Every replica refuses the same, so one row of them is enough. */
  async #tellRefused({ stream, seq, place, reason, row }: Refusal): Promise<void> {
    const { session, log } = this.#deps;
    log.warn('a row of a delta was refused', { stream, seq, place, reason });
    await session.query({
      name: 'fm-refused',
      text: `INSERT INTO fm_refused (stream, seq, place, reason, "row", at)
             SELECT $1, $2, $3, $4, $5, now() WHERE NOT EXISTS (
               SELECT 1 FROM fm_refused WHERE stream = $1 AND seq = $2 AND place = $3 AND "row" = $5)
             AND (SELECT count(*) FROM fm_refused) < $6`,
      values: [stream, seq, place, reason, row, maxRefused],
    });
  }
}
