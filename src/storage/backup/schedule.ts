import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import type { ScheduledSettings } from './make-scheduled.ts';
import type { BackupActions } from './worker.ts';

export interface BackupStatus {
  readonly everyMs: number;
  /** Time of the last complete backup; `undefined` before the first backup. */
  readonly lastGoodAt: number | undefined;
  /** Size of the last backup of this process. */
  readonly lastBytes: number | undefined;
  readonly lastMs: number | undefined;
  /** Reason why the last backup failed, for people; empty if it succeeded. */
  readonly trouble: string;
  readonly nextAt: number | undefined;
  readonly made: number;
  readonly failed: number;
}

interface ScheduleDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly everyMs: number;
  readonly thread: Pick<BackupThread, 'run' | 'stop'>;
}

/** Waits `ms`. Resolves to false when the service is stopping. */
type Pause = (ms: number) => Promise<boolean>;

/** Initial and maximum delay before a retry, ms. */
const retryMs = { first: 60_000, most: 3_600_000 };

/** Maximum duration of one timer, ms. Longer waits are split: timers have 31 bits, and the clock can be changed. */
const longestPauseMs = 60_000;

/** Makes backups one after another while the service runs. Failures are logged. No other work waits for a backup. */
export class Schedule {
  readonly #deps: ScheduleDeps;
  #status: BackupStatus;

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
    this.#status = {
      everyMs: deps.everyMs,
      lastGoodAt: undefined,
      lastBytes: undefined,
      lastMs: undefined,
      trouble: '',
      nextAt: undefined,
      made: 0,
      failed: 0,
    };
  }

  get status(): BackupStatus {
    return this.#status;
  }

  /** Runs until the service stops. The first interval starts at the time of the latest backup at the destination. */
  async keep(pause: Pause): Promise<void> {
    let failures = 0;
    let isKnown = false;
    while (await this.#wait(pause)) {
      try {
        if (isKnown) await this.#backUp();
        else this.#learn(await this.#deps.thread.run('latest'));
        isKnown = true;
        failures = 0;
      } catch (error) {
        if (!(await pause(0))) return;
        this.#fail(error as Error, Math.min(retryMs.most, retryMs.first * 2 ** failures));
        failures += 1;
      }
    }
  }

  /** Cancels the current backup and removes its files. */
  stop(): Promise<void> {
    return this.#deps.thread.stop();
  }

  async #wait(pause: Pause): Promise<boolean> {
    for (;;) {
      const left = (this.#status.nextAt ?? 0) - this.#deps.clock.now();
      if (!(await pause(Math.max(0, Math.min(left, longestPauseMs))))) return false;
      if (left <= longestPauseMs) return true;
    }
  }

  #learn(latest: number | undefined): void {
    const nextAt = latest === undefined ? this.#deps.clock.now() : latest + this.#deps.everyMs;
    this.#status = { ...this.#status, lastGoodAt: latest, nextAt, trouble: '' };
  }

  async #backUp(): Promise<void> {
    const { clock, log, everyMs } = this.#deps;
    const at = clock.now();
    const began = clock.monotonic();
    const { name, bytes, removed, unremoved } = await this.#deps.thread.run('backup', at);
    const lastMs = clock.monotonic() - began;
    const made = this.#status.made + 1;
    this.#status = {
      ...this.#status,
      lastGoodAt: at,
      lastBytes: bytes,
      lastMs,
      trouble: '',
      nextAt: at + everyMs,
      made,
    };
    log.info('backup completed', { name, bytes, ms: Math.round(lastMs), removed });
    if (unremoved !== '') log.warn('cannot remove an old backup', { reason: unremoved });
  }

  #fail({ message }: Error, afterMs: number): void {
    const { clock, log } = this.#deps;
    const nextAt = clock.now() + Math.min(afterMs, this.#status.everyMs);
    this.#status = { ...this.#status, trouble: message, nextAt, failed: this.#status.failed + 1 };
    const { lastGoodAt } = this.#status;
    const isOld = lastGoodAt === undefined || clock.now() - lastGoodAt > 2 * this.#status.everyMs;
    const lastGood = lastGoodAt === undefined ? null : new Date(lastGoodAt).toISOString();
    // Logs an error if the last backup is old, by the same condition as the alert FlagmeterBackupOld.
    log[isOld ? 'error' : 'warn']('backup failed', {
      reason: message,
      lastGood,
      nextAt: new Date(nextAt).toISOString(),
    });
  }
}

/** Runs backup tasks. Each task runs in a separate thread, which stops at the end of the task. */
export class BackupThread {
  readonly #workerFile: string;
  readonly #keeping: ScheduledSettings;
  #running: WorkerThread<BackupActions> | undefined;

  /** @param workerFile path of the compiled `backup/worker` */
  constructor(workerFile: string, keeping: ScheduledSettings) {
    this.#workerFile = workerFile;
    this.#keeping = keeping;
  }

  /** @throws {Error} with a message that describes the failure without secrets */
  async run<Name extends 'latest' | 'backup'>(name: Name, ...task: Parameters<BackupActions[Name]>) {
    const thread = new WorkerThread<BackupActions>(this.#workerFile, this.#keeping);
    this.#running = thread;
    try {
      return await thread.call(name, ...task);
    } finally {
      await thread.close();
      this.#running = undefined;
    }
  }

  async stop(): Promise<void> {
    await this.#running?.close();
  }
}
