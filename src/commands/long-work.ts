import { Interrupted, Pace } from '../backup/pace.ts';
import { Failure } from '../cli/failure.ts';
import { systemClock } from '../clock.ts';
import type { Terminal } from '../terminal.ts';
import { Progress } from './progress.ts';

/**
 * Does a long work with a progress bar. Ctrl-C and SIGTERM end it at its next turn, so that it can remove what it has begun.
 * @param gentle whether a service that works meanwhile comes first
 * @throws {Failure} when it was interrupted
 */
export async function longWork<T>(
  terminal: Terminal,
  words: string,
  work: (pace: Pace) => Promise<T>,
  gentle = false,
): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  const progress = new Progress(terminal, systemClock, words);
  try {
    return await work(
      new Pace({
        clock: systemClock,
        isOver: () => isOver,
        tell: (done) => progress.tell(done),
        ...(gentle && { gentle }),
      }),
    );
  } catch (error) {
    if (error instanceof Interrupted) throw new Failure('interrupted', 'Interrupted: nothing was changed');
    throw error;
  } finally {
    progress.end();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
}
