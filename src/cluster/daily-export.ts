import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import { horizonsAt, type Retention } from '../store/retention.ts';
import { Bell } from './bell.ts';
import type { ChangedDay } from './changed-days.ts';
import { type DailyRow, dailyRows } from './daily-rows.ts';
import { DailyTables } from './daily-tables.ts';
import { appliedAt, type DayRange, dueDays } from './due-days.ts';
import type { Applied } from './entry.ts';

export interface DailyExportDeps {
  readonly session: EngineSession;
  readonly store: ReplicaStore;
  /** Of the node. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** What the node has by now; `undefined` while it is not at the end of the log. */
  readonly progress: () => ExportProgress | undefined;
}

export interface ExportProgress {
  /** All that any node has answered before this time is in the replica, Unix ms. */
  readonly completeThrough: number;
  /** The engine's clock, Unix ms. */
  readonly now: number;
  readonly retention: Retention;
}

/** What a round has done. */
export interface Exported {
  /** Days of environments. */
  readonly days: number;
  readonly rows: number;
}

const everyMs = 30_000;
/** While there is nothing that this node can do. */
const againMs = 5000;
const dayMs = 86_400_000;
/** Rows of one statement. */
const stepRows = 500;
/** Reading pauses after this time, so that the node goes on. */
const turnMs = 2;

/**
 * Writes the usage of days that are over into tables of the engine, for programs that read SQL. One node at a time does it, under a
 * lease. Several at once, or one that was killed, do no harm: each row is what a replica says at a position of the log, and an
 * earlier position never replaces a later one.
 */
export class DailyExport {
  readonly #deps: DailyExportDeps;
  readonly #tables: DailyTables;
  readonly #bell = new Bell();
  #isEnding = false;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: DailyExportDeps) {
    this.#deps = deps;
    this.#tables = new DailyTables(deps.session, deps.directory);
  }

  start(): void {
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#bell.ring();
    await this.#running;
  }

  /** Writes what is due. Returns undefined when another node does it, or this one is not at the end of the log. */
  async round(): Promise<Exported | undefined> {
    const progress = this.#deps.progress();
    if (progress === undefined) return undefined;
    const { completeThrough, now, retention } = progress;
    const range = {
      from: Math.floor(horizonsAt(now, retention).days / 1440),
      to: Math.floor(completeThrough / dayMs) - 1,
    };
    const written = await this.#tables.lease();
    if (written === undefined) return undefined;
    await this.#tables.removeGone(range.from);
    const { applied, due } = await this.#due(written, range);
    let rows = 0;
    for (const each of due) {
      if (this.#isEnding) return undefined;
      rows += await this.#write(each);
    }
    const day = Math.max(written.day, range.to);
    if (applied.position > written.position || day > written.day)
      await this.#tables.advance(written, { ...applied, day });
    return { days: due.length, rows };
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      const exported = await this.#tryRound();
      await this.#bell.wait(exported === undefined ? againMs : everyMs);
    }
  }

  async #tryRound(): Promise<Exported | undefined> {
    const { log } = this.#deps;
    try {
      const exported = await this.round();
      if (exported !== undefined && exported.days > 0)
        log.info('usage by days is written for SQL', { ...exported });
      return exported;
    } catch (error) {
      // The loop says so when the engine is away.
      if (!(error instanceof EngineError && ['unreachable', 'refused'].includes(error.code)))
        log.warn('writing usage by days for SQL failed; retrying', { error });
      return undefined;
    }
  }

  /** The days to write, the latest first, without those that an earlier attempt has written. */
  async #due(
    written: Parameters<typeof dueDays>[1],
    range: DayRange,
  ): Promise<{ readonly applied: Applied; readonly due: readonly ChangedDay[] }> {
    const { store } = this.#deps;
    const found = new Map<string, ChangedDay>();
    const applied = await this.#reading(async (at) => {
      for await (const due of this.#slowly(dueDays(store, written, range, at))) {
        const key = `${due.environment} ${due.day}`;
        if ((found.get(key)?.position ?? -1) < due.position) found.set(key, due);
      }
      return appliedAt(store, at);
    });
    const days = [...found.values()].map(({ day }) => day);
    if (days.length === 0) return { applied, due: [] };
    const there = await this.#tables.positions({ from: min(days), to: max(days) });
    const due = [...found].filter(([key, { position }]) => (there.get(key) ?? 0) < position);
    return { applied, due: due.map(([, each]) => each).sort((a, b) => b.day - a.day) };
  }

  /** Writes a day of an environment. @returns rows */
  #write({ environment, day }: ChangedDay): Promise<number> {
    const { store } = this.#deps;
    return this.#reading(async (at) => {
      const place = { environment, day, applied: appliedAt(store, at) };
      await this.#tables.begin(place);
      let rows = 0;
      let waiting: DailyRow[] = [];
      const put = async () => {
        await this.#tables.put(place, waiting);
        rows += waiting.length;
        waiting = [];
      };
      for await (const row of this.#slowly(dailyRows(store, environment, day, at))) {
        waiting.push(row);
        if (waiting.length === stepRows) await put();
      }
      if (waiting.length > 0) await put();
      await this.#tables.finish(place);
      return rows;
    });
  }

  async #reading<T>(
    read: (at: ReturnType<ReplicaStore['lmdb']['useReadTransaction']>) => Promise<T>,
  ): Promise<T> {
    const { lmdb } = this.#deps.store;
    lmdb.resetReadTxn(); // The snapshot includes everything committed so far.
    const at = lmdb.useReadTransaction();
    lmdb.resetReadTxn(); // The next read takes another transaction; this one ends when it is closed here.
    try {
      return await read(at);
    } finally {
      at.done();
    }
  }

  async *#slowly<T>(steps: Iterable<T | undefined>): AsyncGenerator<T> {
    const { clock } = this.#deps;
    let until = clock.monotonic() + turnMs;
    for (const step of steps) {
      if (step !== undefined) yield step;
      if (clock.monotonic() < until) continue;
      await setImmediate();
      until = clock.monotonic() + turnMs;
    }
  }
}

function min(numbers: readonly number[]): number {
  return numbers.reduce((least, each) => Math.min(least, each));
}

function max(numbers: readonly number[]): number {
  return numbers.reduce((most, each) => Math.max(most, each));
}
