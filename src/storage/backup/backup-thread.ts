import { Worker } from 'node:worker_threads';
import type { Keeping, Made, Task } from './task.ts';
import type { WorkerAnswer } from './worker.ts';

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
