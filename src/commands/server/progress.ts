import type { Terminal } from '../../cli/command.ts';
import { Failure } from '../../cli/failure.ts';
import { interruptible, Progress } from '../../cli/progress.ts';
import type { UploadResult } from '../../replication/log-upkeep.ts';
import { systemClock } from '../../runtime/clock.ts';
import { InterruptedError, Pace, type WorkProgress } from '../../storage/backup/pace.ts';

interface LongWork<T> {
  /** Description of the work, for the progress bar. */
  readonly words: string;
  /** True to pause whenever a running service is busy. */
  readonly gentle?: boolean;
  /** Description of the state after an interruption. */
  readonly interrupted?: string;
  /** @param over aborts when the process receives a signal such as SIGINT */
  work(pace: Pace, over: AbortSignal): Promise<T>;
}

/**
 * Runs long work with a progress bar. A signal interrupts the work at its next step, so that it can clean up. Print
 * results once the promise has resolved, below the bar.
 * @throws {Failure} when a signal has interrupted the work
 */
export async function longWork<T>(
  terminal: Terminal,
  { words, gentle = false, interrupted = 'nothing was changed', work }: LongWork<T>,
): Promise<T> {
  const progress = new Progress(terminal, systemClock, words);
  const tell = (done: WorkProgress) => progress.report(done);
  try {
    const result = await interruptible((over) => {
      const pace = new Pace({ clock: systemClock, over, tell, ...(gentle && { gentle }) });
      return work(pace, over).catch((error) => {
        throw over.aborted ? new InterruptedError() : error;
      });
    });
    progress.complete();
    return result;
  } catch (error) {
    if (error instanceof InterruptedError) throw new Failure('interrupted', `Interrupted: ${interrupted}`);
    throw error;
  } finally {
    progress.end();
  }
}

/** Runs an upload of usage to PostgreSQL with its progress. The total is not known in advance. */
export async function withUploadProgress<T>(
  terminal: Terminal,
  work: (onPart: (uploaded: UploadResult) => void) => Promise<T>,
): Promise<T> {
  const progress = new Progress(terminal, systemClock, 'uploading usage');
  try {
    const result = await work(({ bytes }) => progress.report({ done: bytes, total: 0 }));
    progress.complete();
    return result;
  } finally {
    progress.end();
  }
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
