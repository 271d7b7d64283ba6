import { setImmediate } from 'node:timers/promises';
import type { LogStatus } from '../storage/commit/usage-store.ts';
import { type ExportProgress, exportDays } from './daily-export.ts';
import { makeSnapshot } from './log-snapshots.ts';
import { Loop } from './loop.ts';
import type { NodeLoop } from './node-loop.ts';
import type { NodeParts } from './node-parts.ts';
import { PostgresError } from './postgres/postgres-error.ts';
import { readLogLength } from './postgres/postgres-report.ts';
import { defaultSettings } from './settings.ts';
import { trimLogs } from './trim-logs.ts';

const lookEveryMs = 5000;
const horizonEveryMs = 30_000;
const snapshotEveryMs = 60_000;
const trimEveryMs = 600_000;
const exportEveryMs = 30_000;
const eraseStep = 64;

/** Background work: horizons, snapshots, trimming, the export of usage by days. It has its own session. */
export class SideWork {
  readonly #parts: NodeParts;
  readonly #node: NodeLoop;
  readonly #upkeep = new Loop(() => this.#look('upkeep of the log failed; retrying', () => this.#once()));
  readonly #exporting = new Loop(() =>
    this.#look('writing usage by days for SQL failed; retrying', () =>
      this.#every('export', exportEveryMs, () => this.#export()),
    ),
  );
  readonly #last = new Map<string, number>();
  /** How much this process has trimmed, and the length of the log then. */
  trimming: LogStatus = { trimmed: 0, bytes: 0, oldest: undefined };

  constructor(parts: NodeParts, node: NodeLoop) {
    this.#parts = parts;
    this.#node = node;
  }

  start(): void {
    this.#upkeep.start();
    this.#exporting.start();
  }

  /** Starts erasing soon. */
  hurry(): void {
    this.#upkeep.ring();
  }

  async end(): Promise<void> {
    await Promise.all([this.#upkeep.end(), this.#exporting.end()]);
  }

  /** @returns the pause before the next round, ms */
  async #look(failed: string, round: () => Promise<void>): Promise<number> {
    try {
      if (this.#node.isCaughtUp && this.#node.trouble === undefined) await round();
    } catch (error) {
      // The loop logs it if PostgreSQL is away.
      if (!(error instanceof PostgresError && ['unreachable', 'refused'].includes(error.code)))
        this.#parts.log.warn(failed, { error });
    }
    return lookEveryMs;
  }

  async #once(): Promise<void> {
    const { appender, replica, side, facts, snapshotBytes, log } = this.#parts;
    const snapshots = { session: side, replica, directory: facts.directory, leastBytes: snapshotBytes, log };
    await this.#every('horizon', horizonEveryMs, () => appender.horizon(horizonEveryMs));
    await this.#every('snapshot', snapshotEveryMs, () => makeSnapshot(snapshots));
    await this.#every('trim', trimEveryMs, () => this.#trim());
    while (!this.#upkeep.isEnding && replica.erase(eraseStep) > 0) await setImmediate();
  }

  /** If another node holds the lease, it may stop before the lease ends, so this one looks again soon. */
  async #export(): Promise<void> {
    const { side, store, facts, clock, log } = this.#parts;
    const exported = await exportDays({
      session: side,
      store,
      directory: facts.directory,
      clock,
      progress: () => this.#exportProgress(),
      isEnding: () => this.#exporting.isEnding,
    });
    if (exported !== undefined && exported.days > 0)
      log.info('usage by days is written for SQL', { ...exported });
    if (exported === undefined) this.#last.delete('export');
  }

  #exportProgress(): ExportProgress | undefined {
    const { isCaughtUp, trouble, view, completeness } = this.#node;
    const completeThrough = completeness.known;
    if (!isCaughtUp || trouble !== undefined || completeThrough === undefined) return undefined;
    return { completeThrough, now: view!.at, retention: this.#parts.replica.settings ?? defaultSettings };
  }

  async #trim(): Promise<void> {
    const { side, log } = this.#parts;
    const trimmed = await trimLogs(side);
    const { entries, bytes, since } = await readLogLength((statement) => side.query(statement));
    this.trimming = { trimmed: this.trimming.trimmed + trimmed, bytes, oldest: since?.getTime() };
    if (trimmed > 0) log.info('the log was trimmed', { trimmed, entries, bytes, since });
  }

  async #every(name: string, ms: number, action: () => Promise<unknown>): Promise<void> {
    const now = this.#parts.clock.monotonic();
    if (now - (this.#last.get(name) ?? Number.NEGATIVE_INFINITY) < ms) return;
    this.#last.set(name, now);
    await action();
  }
}
