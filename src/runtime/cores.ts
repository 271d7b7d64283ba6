import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * Files with the CPU quota of a container. Version 2 of control groups has one file. Version 1 has two: quota and
 * period.
 */
const quotaFiles = ['/sys/fs/cgroup/cpu.max'];
const quotaFiles1 = ['/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '/sys/fs/cgroup/cpu/cpu.cfs_period_us'];

export function usableCores(read: (path: string) => string = readText, all = availableParallelism()): number {
  const quota = quotaIn(read, quotaFiles) ?? quotaIn(read, quotaFiles1);
  return quota === undefined ? all : Math.max(1, Math.min(all, Math.ceil(quota)));
}

/** Returns the quota in cores; `undefined` without a quota: the files are missing, or contain `max` or -1. */
function quotaIn(read: (path: string) => string, files: readonly string[]): number | undefined {
  try {
    const [quota, period] = files.flatMap((file) => read(file).trim().split(' ')).map(Number);
    const cores = Number(quota) / Number(period);
    return cores > 0 ? cores : undefined;
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
