import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { LogLength } from '../postgres/log-length.ts';
import { Bell } from './bell.ts';
import { type DailyExportDeps, exportDays } from './daily-export.ts';
import type { LogAppender } from './log.ts';
import type { NodeLoop } from './node-loop.ts';
import { logLength, makeSnapshot, type SnapshotDeps, trimLog } from './shared-snapshots.ts';

export interface SideWorkDeps extends SnapshotDeps, Omit<DailyExportDeps, 'isEnding'> {
  readonly appender: LogAppender;
  readonly loop: NodeLoop;
  readonly clock: Clock;
  readonly log: Log;
}

/** What this process has trimmed of the log, and how long the log was then. */
export interface Trimming {
  readonly trimmed: number;
  /** `undefined` before the first round. */
  readonly length: LogLength | undefined;
}

const lookEveryMs = 5000;
const horizonEveryMs = 30_000;
const snapshotEveryMs = 60_000;
const trimEveryMs = 600_000;
const exportEveryMs = 30_000;
const eraseStep = 64;

/** What no one waits for: horizons, snapshots, the removal of what is old, the usage by days in SQL. It has a session of its own. */
export class SideWork {
  readonly #deps: SideWorkDeps;
  readonly #bell = new Bell();
  readonly #exportBell = new Bell();
  readonly #last = new Map<string, number>();
  #trimming: Trimming = { trimmed: 0, length: undefined };
  #isEnding = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: SideWorkDeps) {
    this.#deps = deps;
  }

  get trimming(): Trimming {
    return this.#trimming;
  }

  start(): void {
    this.#running = Promise.all([
      this.#run(this.#bell, 'upkeep of the log failed; retrying', () => this.#once()),
      this.#run(this.#exportBell, 'writing usage by days for SQL failed; retrying', () =>
        this.#every('export', exportEveryMs, () => this.#export()),
      ),
    ]);
  }

  /** Something is to be erased. */
  hurry(): void {
    this.#bell.ring();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#bell.ring();
    this.#exportBell.ring();
    await this.#running;
  }

  async #run(bell: Bell, failed: string, round: () => Promise<void>): Promise<void> {
    const { loop, log } = this.#deps;
    while (!this.#isEnding) {
      try {
        if (loop.isCaughtUp && loop.trouble === undefined) await round();
      } catch (error) {
        // The loop says so when the engine is away.
        if (!(error instanceof EngineError && ['unreachable', 'refused'].includes(error.code)))
          log.warn(failed, { error });
      }
      await bell.wait(lookEveryMs);
    }
  }

  async #once(): Promise<void> {
    const { appender, replica } = this.#deps;
    await this.#every('horizon', horizonEveryMs, () => appender.horizon(horizonEveryMs));
    await this.#every('snapshot', snapshotEveryMs, () => makeSnapshot(this.#deps));
    await this.#every('trim', trimEveryMs, () => this.#trim());
    while (!this.#isEnding && replica.erase(eraseStep) > 0) await setImmediate();
  }

  /** Another node may write now, and stop before its lease is over: then this one looks again soon. */
  async #export(): Promise<void> {
    const exported = await exportDays({ ...this.#deps, isEnding: () => this.#isEnding });
    if (exported !== undefined && exported.days > 0)
      this.#deps.log.info('usage by days is written for SQL', { ...exported });
    if (exported === undefined) this.#last.delete('export');
  }

  async #trim(): Promise<void> {
    const { session, log } = this.#deps;
    const trimmed = await trimLog(session);
    const length = await logLength(session);
    this.#trimming = { trimmed: this.#trimming.trimmed + trimmed, length };
    const { entries, bytes, since } = length;
    if (trimmed > 0) log.info('the log was trimmed', { trimmed, entries, bytes, since });
  }

  async #every(name: string, ms: number, action: () => Promise<unknown>): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now - (this.#last.get(name) ?? Number.NEGATIVE_INFINITY) < ms) return;
    this.#last.set(name, now);
    await action();
  }
}
