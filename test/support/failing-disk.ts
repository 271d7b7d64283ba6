import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Binary, type Credentials, freshDirectory, prepare, startBinary } from './binary.ts';

/** What a disk fails to do: see failing-disk.c. */
export type DiskFault = 'FAILING_SYNC' | 'FAILING_META' | 'FAILING_DATA' | 'SLOW_SYNC';

export interface FailingDisk {
  /** The environment of a process that uses this disk. */
  readonly env: Readonly<Record<string, string>>;
  fail(): void;
}

/** A disk on which the fault begins when `fail` is called. */
export function failingDisk(fault: DiskFault): FailingDisk {
  const directory = freshDirectory();
  const library = join(directory, 'failing-disk.so');
  const trigger = join(directory, 'fail');
  const source = fileURLToPath(new URL('failing-disk.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
  return { env: { LD_PRELOAD: library, [fault]: trigger }, fail: () => writeFileSync(trigger, '') };
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
