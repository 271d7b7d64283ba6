import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { diskSpace } from '../storage/lmdb/disk.ts';
import type { Config } from './config/config.ts';

type DiskName = 'data' | 'spool' | 'backups';

/** The space on the file system of a directory, bytes. */
export interface DiskSpace {
  readonly directory: DiskName;
  readonly path: string;
  readonly size: number;
  /** Space available to this process, bytes. */
  readonly free: number;
}

/** Public names of the directories. The status does not show paths, because some readers may not know them. */
const names = { data: 'data directory', spool: 'spool', backups: 'backup directory' } as const;

/** Thresholds below which a disk is low. */
const least = { bytes: 2 ** 30, share: 0.1 };

/** Interval between warnings about a disk, ms. */
const repeatMs = 3_600_000;

/** True if less than 10 % or less than 1 GiB is free. */
export function isLow({ size, free }: Pick<DiskSpace, 'size' | 'free'>): boolean {
  return free < least.bytes || free < least.share * size;
}

interface DiskWatchDeps {
  readonly config: Pick<Config, 'data' | 'postgres' | 'backupEvery' | 'backupTo'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly measure?: (path: string) => Promise<SpaceMeasurement>;
}

interface SpaceMeasurement {
  /** Device number of the file system. */
  readonly device: number;
  readonly size: number;
  readonly free: number;
}

/** Watches the file systems that the service writes to, and warns before one is full. */
export class DiskWatch {
  readonly #directories: Directories;
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #measure: (path: string) => Promise<SpaceMeasurement>;
  #spaces: readonly DiskSpace[] = [];
  readonly #warnedAt = new Map<DiskName, number>();

  constructor({ config, log, clock, measure = measured }: DiskWatchDeps) {
    this.#directories = listDirectories(config);
    this.#log = log;
    this.#clock = clock;
    this.#measure = measure;
  }

  /**
   * Returns the space on each file system. Measures the local data directory now. The values of other directories are
   * from the last `look`.
   */
  now(): readonly DiskSpace[] {
    return [...this.#ofData(), ...this.#spaces.filter(({ directory }) => directory !== 'data')];
  }

  /** Measures the data directory. Returns nothing if it does not exist; the check of the store's files reports this. */
  #ofData(): readonly DiskSpace[] {
    const [[, path]] = this.#directories;
    try {
      return [{ directory: 'data', path, ...diskSpace(path) }];
    } catch {
      return [];
    }
  }

  get warnings(): readonly string[] {
    return this.now()
      .filter(isLow)
      .map(({ directory }) => `the disk of the ${names[directory]} has less than 10 % or 1 GiB left`);
  }

  /** Measures the other directories. A network file system can be slow, so `now` does not wait for this method. */
  async look(): Promise<void> {
    const found = await Promise.allSettled(this.#directories.map(([, path]) => this.#measure(path)));
    const devices = new Set<number>();
    this.#spaces = this.#directories.flatMap(([directory, path], at) => {
      const measured = found[at]!;
      // The code that writes to an inaccessible directory reports the reason.
      if (measured.status === 'rejected' || devices.has(measured.value.device)) return [];
      const { device, size, free } = measured.value;
      devices.add(device);
      return [{ directory, path, size, free }];
    });
    for (const space of this.#spaces) this.#report(space);
  }

  #report(space: DiskSpace): void {
    const { directory, path, free, size } = space;
    const warnedAt = this.#warnedAt.get(directory);
    const now = this.#clock.monotonic();
    if (!isLow(space)) {
      if (warnedAt === undefined) return;
      this.#warnedAt.delete(directory);
      this.#log.info('a disk has enough space again', { directory, path, freeBytes: free, sizeBytes: size });
      return;
    }
    if (warnedAt !== undefined && now - warnedAt < repeatMs) return;
    this.#warnedAt.set(directory, now);
    const hint =
      'less than 10 % or 1 GiB is free: free disk space or shorten retention; on a full disk, packets are refused';
    this.#log.warn('a disk is almost full', { directory, path, freeBytes: free, sizeBytes: size, hint });
  }
}

type Directory = readonly [DiskName, path: string];
type Directories = readonly [Directory, ...Directory[]];

function listDirectories({ data, postgres, backupEvery, backupTo }: DiskWatchDeps['config']): Directories {
  const spool = postgres === undefined ? [] : [['spool', join(data, 'spool')] as const];
  const keepsFiles = backupEvery !== undefined && backupTo !== undefined && !backupTo.startsWith('s3://');
  const backups = keepsFiles ? [['backups', backupTo] as const] : [];
  return [['data', data], ...spool, ...backups];
}

async function measured(path: string): Promise<SpaceMeasurement> {
  const [{ dev }, { bsize, blocks, bavail }] = await Promise.all([stat(path), statfs(path)]);
  return { device: dev, size: bsize * blocks, free: bsize * bavail };
}
