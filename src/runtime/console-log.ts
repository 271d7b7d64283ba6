import util from 'node:util';
import type { Log } from './log.ts';

/**
 * Redirects console output of libraries to the log, as one JSON line each. For example, lmdb prints the error of a failed
 * commit to the console, over several lines.
 * @returns a function that restores the console
 */
export function logConsole(log: Log, target: Console = console): () => void {
  const { error, warn, info, log: print, debug } = target;
  const into =
    (level: keyof Log) =>
    (...said: unknown[]) =>
      log[level]('console output of a library', { text: util.format(...said) }); // Read late: Bun loads its formatter then.
  const own = { error: into('error'), warn: into('warn'), info: into('info'), log: into('info') };
  Object.assign(target, { ...own, debug: into('debug') });
  return () => void Object.assign(target, { error, warn, info, log: print, debug });
}
