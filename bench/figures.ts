import { readFileSync } from 'node:fs';

/** Ticks a second in `/proc/PID/stat`: fixed to 100 for user space on Linux. */
const ticksPerSecond = 100;

/** Memory of a process that is resident now, MiB. */
export function rssMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** The most memory of a process that ever was resident, MiB. */
export function peakRssMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

/** CPU time that all threads of a process have used, user and system, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The middle one of some numbers, or the mean of the middle two. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted.length >> 1;
  const high = sorted[upper] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[upper - 1] ?? Number.NaN) + high) / 2;
}

/** Rounds to a number of decimals. */
export function round(value: number, decimals = 0): number {
  return Number(value.toFixed(decimals));
}

function statusMb(pid: number, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  );
  return Number(kibibytes?.[1]) / 1024;
}
