import { Failure } from '../cli/failure.ts';
import type { Terminal } from '../cli/terminal.ts';
import { systemClock } from '../runtime/clock.ts';
import { type Done, Interrupted, Pace } from '../storage/backup/pace.ts';
import { Progress } from './progress.ts';

/** A long work of a command. */
interface LongWork<T> {
  /** What is being done, for the progress bar. */
  readonly words: string;
  /** Whether a service that works meanwhile comes first. */
  readonly gentle?: boolean;
  /** What is true when it was interrupted. */
  readonly interrupted?: string;
  work(pace: Pace): Promise<T>;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does a long work with a progress bar. Ctrl-C and SIGTERM end it at its next turn, so that it can remove what it has begun.
 * @throws {Failure} when it was interrupted
 */
export async function longWork<T>(
  terminal: Terminal,
  { words, gentle = false, interrupted = 'nothing was changed', work }: LongWork<T>,
): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of signals) process.on(signal, end);
  const progress = new Progress(terminal, systemClock, words);
  const tell = (done: Done) => progress.tell(done);
  try {
    return await work(new Pace({ clock: systemClock, over: over.signal, tell, ...(gentle && { gentle }) }));
  } catch (error) {
    if (error instanceof Interrupted) throw new Failure('interrupted', `Interrupted: ${interrupted}`);
    throw error;
  } finally {
    progress.end();
    for (const signal of signals) process.off(signal, end);
  }
}
