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
  work(pace: Pace): Promise<T>;
}

/**
 * Runs long work with a progress bar. A signal interrupts the work at its next step, so that it can clean up.
 * @throws {Failure} when a signal has interrupted the work
 */
export async function longWork<T>(
  terminal: Terminal,
  { words, gentle = false, interrupted = 'nothing was changed', work }: LongWork<T>,
): Promise<T> {
  const progress = new Progress(terminal, systemClock, words);
  const tell = (done: WorkProgress) => progress.report(done);
  try {
    return await interruptible((over) => work(new Pace({ clock: systemClock, over, tell, ...(gentle && { gentle }) })));
  } catch (error) {
    if (error instanceof InterruptedError) throw new Failure('interrupted', `Interrupted: ${interrupted}`);
    throw error;
  } finally {
    progress.end();
  }
}

const uploadReportMs = 2000;

/** Prints the amount of uploaded usage every few seconds. */
export function uploadProgress({ err }: Terminal): (uploaded: UploadResult) => void {
  let reportedAt = systemClock.monotonic();
  return ({ parts, bytes }) => {
    if (systemClock.monotonic() - reportedAt < uploadReportMs) return;
    reportedAt = systemClock.monotonic();
    err(`usage: uploaded ${parts} chunks, ${mebibytes(bytes)}, to PostgreSQL\n`);
  };
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
