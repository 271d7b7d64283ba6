import { readFileSync } from 'node:fs';

/** Ticks a second in `/proc/PID/stat`: fixed to 100 for user space on Linux. */
const ticksPerSecond = 100;

/** Memory of a process that is resident now, MiB. */
export function rssMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** Memory of a process that is resident now, without the pages of files, which the kernel may drop at any time, MiB. */
export function ownMb(pid: number): number {
  return statusMb(pid, 'RssAnon');
}

/** The most memory of a process that ever was resident, MiB. */
export function peakRssMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

/** CPU time that all threads of a process have used, user and system, in seconds. */
export function cpuSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/stat`);
}

/** The same of its main thread alone. */
export function mainThreadSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`);
}

/** Bytes that a process has caused to be written to disks: the kernel counts whole folios, so it may be several times what is written. */
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
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  );
  return Number(kibibytes?.[1]) / 1024;
}
