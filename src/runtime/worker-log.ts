import { writeSync } from 'node:fs';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { systemClock } from './clock.ts';
import { logConsole } from './console-log.ts';
import { createLog, type Log, type LogFormat, type LogLevel } from './log.ts';

const standardError = 2;
const name = 'flagmeter log format';

/** Sets the log format of threads that are started from now on. */
export function shareLogFormat(format: LogFormat): void {
  setEnvironmentData(name, format);
}

/** The log of a worker thread: to standard error, in the format of the process. @param level as for `createLog` */
export function threadLog(level: LogLevel | (() => LogLevel)): Log {
  const format = (getEnvironmentData(name) as LogFormat | undefined) ?? 'json';
  return createLog(level, write, systemClock, format);
}

/** Drops the line if standard error is a closed or full pipe: what the thread does must not fail with its log. */
function write(line: string): void {
  try {
    writeSync(standardError, line);
  } catch {
    // The line is lost.
  }
}

/** Redirects console output of a worker thread to the log. */
export function logThreadConsole(): void {
  logConsole(threadLog('info'));
}
