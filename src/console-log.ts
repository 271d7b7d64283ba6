import { format } from 'node:util';
import type { Log } from './log.ts';

/**
 * Has what libraries write to the console go into the log, a line of JSON like all others: lmdb, for one, prints the error
 * of a failed commit there, over several lines.
 * @returns puts the console back
 */
export function logConsole(log: Log, target: Console = console): () => void {
  const { error, warn, info, log: print, debug } = target;
  const into =
    (level: keyof Log) =>
    (...said: unknown[]) =>
      log[level]('a library wrote to the console', { text: format(...said) });
  const own = { error: into('error'), warn: into('warn'), info: into('info'), log: into('info') };
  Object.assign(target, { ...own, debug: into('debug') });
  return () => void Object.assign(target, { error, warn, info, log: print, debug });
}
