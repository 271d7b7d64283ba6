import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { LogLength } from '../postgres/log-length.ts';
import { Bell } from './bell.ts';
import type { LogAppender } from './log.ts';
import type { NodeLoop } from './node-loop.ts';
import { logLength, makeSnapshot, type SnapshotDeps, trimLog } from './shared-snapshots.ts';

export interface SideWorkDeps extends SnapshotDeps {
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
const eraseStep = 64;

/** What no one waits for: horizons, snapshots, the removal of what is old. It has a session of its own. */
export class SideWork {
  readonly #deps: SideWorkDeps;
  readonly #bell = new Bell();
  readonly #last = new Map<string, number>();
  #trimming: Trimming = { trimmed: 0, length: undefined };
  #isEnding = false;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: SideWorkDeps) {
    this.#deps = deps;
  }

  get trimming(): Trimming {
    return this.#trimming;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Something is to be erased. */
  hurry(): void {
    this.#bell.ring();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#bell.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      if (this.#deps.loop.isCaughtUp && this.#deps.loop.trouble === undefined) await this.#once();
      await this.#bell.wait(lookEveryMs);
    }
  }

  async #once(): Promise<void> {
    const { appender, replica, log } = this.#deps;
    try {
      await this.#every('horizon', horizonEveryMs, () => appender.horizon(horizonEveryMs));
      await this.#every('snapshot', snapshotEveryMs, () => makeSnapshot(this.#deps));
      await this.#every('trim', trimEveryMs, () => this.#trim());
      while (!this.#isEnding && replica.erase(eraseStep) > 0) await setImmediate();
    } catch (error) {
      // The loop says so when the engine is away.
      if (!(error instanceof EngineError && ['unreachable', 'refused'].includes(error.code)))
        log.warn('upkeep of the log failed; it is tried again', { error });
    }
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
