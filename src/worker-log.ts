import { writeSync } from 'node:fs';
import { systemClock } from './clock.ts';
import { logConsole } from './console-log.ts';
import { createLog } from './log.ts';

const standardError = 2;

/** Writes console output of a worker thread, which has no log of its own, to standard error in the format of the log. */
export function logThreadConsole(): void {
  logConsole(createLog('info', (line) => writeSync(standardError, line), systemClock));
}
