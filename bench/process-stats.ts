import { readFileSync } from 'node:fs';
import { readThreads } from '../src/bench/load/server-usage.ts';

/** Ticks per second in `/proc/PID/stat`: always 100 in user space on Linux. */
const ticksPerSecond = 100;

/** Returns the current resident memory of a process, MiB. */
export function rssMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** Returns the resident memory of a process in MiB, without file pages, which the kernel can drop at any time. */
export function ownMb(pid: number): number {
  return statusMb(pid, 'RssAnon');
}

/** Returns the peak resident memory of a process, MiB. */
export function peakRssMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

/** Returns the CPU time of all threads of a process in user and system mode, in seconds. */
export function cpuSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/stat`);
}

/** Returns the CPU time of the main thread of a process, in seconds. */
export function mainThreadSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`);
}

/** Returns the CPU time of a process by thread name, in seconds. Adds up threads with the same name. */
export function threadSeconds(pid: number): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const thread of readThreads(pid)) seconds.set(thread.name, (seconds.get(thread.name) ?? 0) + thread.seconds);
  return seconds;
}

/**
 * Returns the bytes that a process has written to disks. The kernel counts whole folios, so the result can be several
 * times what the process wrote.
 */
export function ioBytes(pid: number): number {
  const bytes = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1];
  return Number(bytes);
}

function secondsIn(path: string): number {
  const stat = readFileSync(path, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function statusMb(pid: number, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(kibibytes?.[1]) / 1024;
}
