import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshDirectory } from './binary.ts';
import { compilePreload } from './preload.ts';

/** A file operation at which a process is killed: see record-disk.c. */
export interface KillPoint {
  readonly on: 'w' | 'd' | 's' | 'e' | 'r' | 'u';
  readonly path: string;
  readonly at: number;
}

/** Returns the environment of a process that is killed at a file operation after `arm` was called. */
export function killedAt(data: string, { on, path, at }: KillPoint) {
  const armed = join(freshDirectory(), 'armed');
  return {
    env: {
      LD_PRELOAD: compilePreload('record-disk'),
      RECORD_IN: `${data}/`,
      KILL_ON: on,
      KILL_PATH: path,
      KILL_AT: String(at),
      KILL_ARMED: armed,
    },
    arm: () => writeFileSync(armed, ''),
  };
}

/** Returns the environment of a process whose writes are recorded, and functions to read the record. */
export function recorded(data: string) {
  const file = join(freshDirectory(), 'record');
  return {
    env: { LD_PRELOAD: compilePreload('record-disk'), RECORD_IN: `${data}/`, RECORD_TO: file },
    file,
    /** Returns the number of bytes recorded so far. */
    length: () => (existsSync(file) ? statSync(file).size : 0),
  };
}
