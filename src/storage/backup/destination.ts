import type { Pace } from './pace.ts';
import type { Sink, Written } from './write-backup.ts';

/** A place for scheduled backups. */
export interface Destination {
  /** The names of its files. */
  names(): Promise<readonly string[]>;
  /** Stores the output of `write` under a name, which appears once the file is complete. */
  put(name: string, write: (sink: Sink) => Promise<Written>, pace: Pace): Promise<Written>;
  remove(name: string, pace: Pace): Promise<void>;
}
