import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Binary, type Credentials, freshDirectory, startBinary } from './binary.ts';
import { compilePreload } from './preload.ts';
import { copyPrepared } from './prepared.ts';

/** A fault of a disk, named after the operation that fails: see failing-disk.c. */
export type DiskFault =
  | 'FAILING_SYNC'
  | 'FAILING_META'
  | 'FAILING_DATA'
  | 'FAILING_FLUSH'
  | 'FAILING_FLUSHES'
  | 'FAILING_LANE'
  | 'FAILING_FRAME'
  | 'SHORT_FRAME'
  | 'FULL_FRAME'
  | 'SLOW_SYNC';

export interface FailingDisk {
  /** Environment variables of a process that uses this disk. */
  readonly env: Readonly<Record<string, string>>;
  fail(): void;
  /** Ends the fault. */
  recover(): void;
}

/** Creates a disk whose fault begins when `fail` is called. */
export function failingDisk(fault: DiskFault): FailingDisk {
  const trigger = join(freshDirectory(), 'fail');
  return {
    env: { LD_PRELOAD: compilePreload('failing-disk'), [fault]: trigger },
    fail: () => writeFileSync(trigger, ''),
    recover: () => rmSync(trigger),
  };
}

export interface OnFailingDisk extends Binary {
  readonly credentials: Credentials;
  fail(): void;
  recover(): void;
}

/** Starts a service whose store is on a failing disk. */
export async function startOnFailingDisk(fault: DiskFault): Promise<OnFailingDisk> {
  const data = join(freshDirectory(), 'data');
  const { env, ...disk } = failingDisk(fault);
  const credentials = await copyPrepared(data);
  return { ...(await startBinary({ data, env })), credentials, ...disk };
}
