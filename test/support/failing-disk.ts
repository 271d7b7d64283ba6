import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Binary, type Credentials, freshDirectory, prepare, startBinary } from './binary.ts';
import { compilePreload } from './preload.ts';

/** What a disk fails to do: see failing-disk.c. */
export type DiskFault = 'FAILING_SYNC' | 'FAILING_META' | 'FAILING_DATA' | 'SLOW_SYNC';

export interface FailingDisk {
  /** The environment of a process that uses this disk. */
  readonly env: Readonly<Record<string, string>>;
  fail(): void;
}

/** A disk on which the fault begins when `fail` is called. */
export function failingDisk(fault: DiskFault): FailingDisk {
  const trigger = join(freshDirectory(), 'fail');
  return {
    env: { LD_PRELOAD: compilePreload('failing-disk'), [fault]: trigger },
    fail: () => writeFileSync(trigger, ''),
  };
}

export interface OnFailingDisk extends Binary {
  readonly credentials: Credentials;
  fail(): void;
}

/** A service with a prepared store on a failing disk. */
export async function startOnFailingDisk(fault: DiskFault): Promise<OnFailingDisk> {
  const data = join(freshDirectory(), 'data');
  const { env, fail } = failingDisk(fault);
  const credentials = await prepare(data);
  return { ...(await startBinary({ data, env })), credentials, fail };
}
