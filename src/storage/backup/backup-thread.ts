import { WorkerThread } from '../../runtime/worker-thread.ts';
import type { Keeping } from './make-scheduled.ts';
import type { BackupActions } from './worker.ts';

/** Runs backup tasks, each in a separate thread that stops at its end. */
export class BackupThread {
  readonly #workerFile: string;
  readonly #keeping: Keeping;
  #running: WorkerThread<BackupActions> | undefined;

  /** @param workerFile path of the compiled `backup/worker` */
  constructor(workerFile: string, keeping: Keeping) {
    this.#workerFile = workerFile;
    this.#keeping = keeping;
  }

  /** @throws {Error} whose message describes the failure without secrets */
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

  /** Interrupts the current task, which removes its unfinished files. */
  async stop(): Promise<void> {
    await this.#running?.close();
  }
}
