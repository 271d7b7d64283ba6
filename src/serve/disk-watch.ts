import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { diskSpace } from '../storage/lmdb/disk.ts';
import type { Config } from './config.ts';

/** Directories that the service writes to. */
export type DiskName = 'data' | 'spool' | 'backups';

/** What is left on the file system of a directory. */
export interface DiskSpace {
  readonly directory: DiskName;
  readonly path: string;
  readonly size: number;
  /** What this process may still write; bytes. */
  readonly free: number;
}

const names = { data: 'data directory', spool: 'spool', backups: 'backup directory' } as const;

/** Below either, a disk is low. */
const least = { bytes: 2 ** 30, share: 0.1 };

/** How often the log repeats that a disk is low, ms. */
const repeatMs = 3_600_000;

/** Whether less than 10 % or less than 1 GiB is free. */
export function isLow({ size, free }: Pick<DiskSpace, 'size' | 'free'>): boolean {
  return free < least.bytes || free < least.share * size;
}

export interface DiskWatchDeps {
  readonly config: Pick<Config, 'data' | 'postgres' | 'backupEvery' | 'backupTo'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asks the system about the file system of a path. */
  readonly measure?: (path: string) => Promise<Measured>;
}

interface Measured {
  /** The number of the file system. */
  readonly device: number;
  readonly size: number;
  readonly free: number;
}

/** Watches the file systems that the service writes to: a warning comes before the first refused packet. */
export class DiskWatch {
  readonly #data: string;
  readonly #directories: readonly (readonly [DiskName, string])[];
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #measure: (path: string) => Promise<Measured>;
  #spaces: readonly DiskSpace[] = [];
  readonly #warnedAt = new Map<DiskName, number>();

  constructor({ config, log, clock, measure = measured }: DiskWatchDeps) {
    this.#data = config.data;
    this.#directories = directoriesOf(config);
    this.#log = log;
    this.#clock = clock;
    this.#measure = measure;
  }

  /** One for each file system. That of the data directory is local and asked now, others are as of the last look. */
  now(): readonly DiskSpace[] {
    return [...this.#ofData(), ...this.#spaces.filter(({ directory }) => directory !== 'data')];
  }

  /** Nothing while the directory is gone: the check of the store's files reports that. */
  #ofData(): readonly DiskSpace[] {
    try {
      return [{ directory: 'data', path: this.#data, ...diskSpace(this.#data) }];
    } catch {
      return [];
    }
  }

  /** What is low, for people who may not be allowed to know the paths. */
  get warnings(): readonly string[] {
    return this.now()
      .filter(isLow)
      .map(({ directory }) => `the disk of the ${names[directory]} has less than 10 % or 1 GiB left`);
  }

  /** Asks the system. A network file system may answer late, so nothing waits for it. */
  async look(): Promise<void> {
    const found = await Promise.all(this.#directories.map((each) => this.#spaceOf(...each)));
    const seen = new Set<number>();
    this.#spaces = found.flatMap((each) => {
      if (each === undefined || seen.has(each.device)) return [];
      seen.add(each.device);
      return [each.space];
    });
    for (const space of this.#spaces) this.#tell(space);
  }

  /** `undefined` where it cannot be seen: who writes there says why. */
  async #spaceOf(
    directory: DiskName,
    path: string,
  ): Promise<{ readonly device: number; readonly space: DiskSpace } | undefined> {
    try {
      const { device, size, free } = await this.#measure(path);
      return { device, space: { directory, path, size, free } };
    } catch {
      return undefined;
    }
  }

  #tell(space: DiskSpace): void {
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
      'less than 10 % or 1 GiB is left: make room, or shorten retention; a full disk refuses packets';
    this.#log.warn('a disk is almost full', { directory, path, freeBytes: free, sizeBytes: size, hint });
  }
}

function directoriesOf({
  data,
  postgres,
  backupEvery,
  backupTo,
}: DiskWatchDeps['config']): readonly (readonly [DiskName, string])[] {
  const spool = postgres === undefined ? [] : [['spool', join(data, 'spool')] as const];
  const keepsFiles = backupEvery !== undefined && backupTo !== undefined && !backupTo.startsWith('s3://');
  const backups = keepsFiles ? [['backups', backupTo] as const] : [];
  return [['data', data], ...spool, ...backups];
}

async function measured(path: string): Promise<Measured> {
  const [{ dev }, { bsize, blocks, bavail }] = await Promise.all([stat(path), statfs(path)]);
  return { device: dev, size: bsize * blocks, free: bsize * bavail };
}
