import { writeSync } from 'node:fs';
import { systemClock } from './clock.ts';
import { logConsole } from './console-log.ts';
import { createLog } from './log.ts';

const standardError = 2;

/** A thread has no log of its own: what libraries write in it goes out beside the log, in the log's form. */
export function logThreadConsole(): void {
  logConsole(createLog('info', (line) => writeSync(standardError, line), systemClock));
}
