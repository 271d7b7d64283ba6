import type { Pace } from './pace.ts';
import type { Sink, Written } from './write-backup.ts';

/** Where scheduled backups are kept. */
export interface Destination {
  /** The names of what is there. */
  names(): Promise<readonly string[]>;
  /** Keeps what `write` writes under a name, which it gets when it is whole. */
  put(name: string, write: (sink: Sink) => Promise<Written>, pace: Pace): Promise<Written>;
  remove(name: string, pace: Pace): Promise<void>;
}
