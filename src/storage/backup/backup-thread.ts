import { Worker } from 'node:worker_threads';
import type { Keeping, Made, Task } from './task.ts';
import type { WorkerAnswer } from './worker.ts';

/** Does tasks of backups, each in a thread of its own, which ends with it. */
export class BackupThread {
  readonly #workerFile: string;
  readonly #keeping: Keeping;
  #running: { readonly worker: Worker; readonly ended: Promise<unknown> } | undefined;

  /** @param workerFile the compiled `backup/worker` */
  constructor(workerFile: string, keeping: Keeping) {
    this.#workerFile = workerFile;
    this.#keeping = keeping;
  }

  /** @throws {Error} that says what happened */
  async run<Name extends keyof Made>(task: Task<Name>): Promise<Made[Name]> {
    const worker = new Worker(this.#workerFile, { workerData: { keeping: this.#keeping, task } });
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#running = { worker, ended };
    const answer = await new Promise<WorkerAnswer>((resolve) => {
      worker.once('message', resolve);
      worker.once('error', ({ message }) => resolve({ ok: false, reason: message }));
      worker.once('exit', () => resolve({ ok: false, reason: 'the thread has ended' }));
    });
    // Its store is closed by then.
    await ended;
    this.#running = undefined;
    if (!answer.ok) throw new Error(answer.reason);
    return answer.made as Made[Name];
  }

  /** Ends what is under way, and removes what it has begun. */
  async stop(): Promise<void> {
    this.#running?.worker.postMessage('stop');
    await this.#running?.ended;
  }
}
