import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Counters of a block device since the machine started, for all processes. */
export interface DiskStats {
  readonly bytes: number;
  readonly writes: number;
  readonly flushes: number;
}

/** Positions of the fields after the device's name in `/proc/diskstats`, from 1: the kernel's `admin-guide/iostats.rst`. */
const fields = { writes: 5, sectorsWritten: 7, flushes: 16 } as const;
const sectorBytes = 512;

/**
 * The name of the whole device of a path: the kernel counts no flushes of partitions.
 * @returns `undefined` without a device, as on tmpfs or an overlay
 */
export function deviceOf(path: string): string | undefined {
  const { dev } = statSync(path);
  const major = (dev >> 8) & 0xfff;
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
  const link = `/sys/dev/block/${major}:${minor}`;
  if (!existsSync(link)) return undefined;
  const folder = realpathSync(link);
  return basename(existsSync(`${folder}/partition`) ? dirname(folder) : folder);
}

export function diskStats(device: string): DiskStats {
  const line = readFileSync('/proc/diskstats', 'latin1')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find(([, , name]) => name === device);
  const field = (place: number) => Number(line?.[2 + place]);
  return {
    bytes: field(fields.sectorsWritten) * sectorBytes,
    writes: field(fields.writes),
    flushes: field(fields.flushes),
  };
}

export function diskStatsBetween(before: DiskStats, after: DiskStats): DiskStats {
  return {
    bytes: after.bytes - before.bytes,
    writes: after.writes - before.writes,
    flushes: after.flushes - before.flushes,
  };
}
