import { Worker } from 'node:worker_threads';

/** A task of the backup thread. */
export type Task<Name = 'latest' | 'backup'> = Extract<
  /** Finds the time of the latest backup. */
  | { readonly name: 'latest' }
  /** Makes a backup, and removes the oldest ones beyond the number to keep. `at` is the time in its name, Unix ms. */
  | { readonly name: 'backup'; readonly at: number },
  { readonly name: Name }
>;

/** The results of the tasks. */
export interface Made {
  /** Unix ms; `undefined` without backups. */
  readonly latest: number | undefined;
  readonly backup: {
    readonly name: string;
    readonly bytes: number;
    /** Number of older backups that were removed. */
    readonly removed: number;
    /** Why an older backup was not removed, for people; empty if all were. */
    readonly unremoved: string;
  };
}

/** The destination and number of backups. */
export interface Keeping {
  readonly data: string;
  /** A directory, or `s3://BUCKET/PREFIX`. */
  readonly to: string;
  readonly keep: number;
  readonly s3: S3Settings;
  /** Path of the key file for MACs. It is read for each backup, so a new key needs no restart. */
  readonly keyFile: string | undefined;
}

export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Path of a credentials file. Without it, they come from the environment. */
  readonly credentials: string | undefined;
}

/** The thread's response. Errors are sent as their messages. */
export type WorkerAnswer =
  | { readonly ok: true; readonly made: unknown }
  | { readonly ok: false; readonly reason: string };

/** Runs backup tasks, each in a separate thread that stops at its end. */
export class BackupThread {
  readonly #workerFile: string;
  readonly #keeping: Keeping;
  #running: { readonly worker: Worker; readonly ended: Promise<unknown> } | undefined;

  /** @param workerFile path of the compiled `backup/worker` */
  constructor(workerFile: string, keeping: Keeping) {
    this.#workerFile = workerFile;
    this.#keeping = keeping;
  }

  /** @throws {Error} whose message describes the failure */
  async run<Name extends keyof Made>(task: Task<Name>): Promise<Made[Name]> {
    const worker = new Worker(this.#workerFile, { workerData: { keeping: this.#keeping, task } });
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#running = { worker, ended };
    const answer = await new Promise<WorkerAnswer>((resolve) => {
      worker.once('message', resolve);
      worker.once('error', ({ message }) => resolve({ ok: false, reason: message }));
      worker.once('exit', () => resolve({ ok: false, reason: 'the thread stopped unexpectedly' }));
    });
    // The thread has closed its store by then.
    await ended;
    this.#running = undefined;
    if (!answer.ok) throw new Error(answer.reason);
    return answer.made as Made[Name];
  }

  /** Stops the current tasks and removes their unfinished files. */
  async stop(): Promise<void> {
    this.#running?.worker.postMessage('stop');
    await this.#running?.ended;
  }
}
