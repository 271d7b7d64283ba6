import type { RootDatabase } from 'lmdb';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type OldestReader, oldestReader } from './oldest-reader.ts';

/** The oldest reader of a store, as far as it keeps pages from being used again. */
export interface ReaderAge {
  /** Seconds that it has been seen for. */
  readonly seconds: number;
  /** Commits since what it reads from. */
  readonly commits: number;
}

/** The log warns of a reader of this age, ms: no report takes so long over one day of data. */
const oldMs = 60_000;

const none: ReaderAge = { seconds: 0, commits: 0 };

/** Watches the readers of one store: a forgotten one makes the file grow with each commit, and LMDB does not say so. */
export class ReaderWatch {
  readonly name: string;
  readonly #lmdb: RootDatabase<Buffer, Buffer>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Pick<Log, 'warn'>;
  /** The oldest reader that was seen last, when it was seen first, and whether the log has it. */
  #seen: { readonly oldest: OldestReader; readonly since: number; warned: boolean } | undefined;

  /** @param name of the store, for the log */
  constructor(
    name: string,
    lmdb: RootDatabase<Buffer, Buffer>,
    clock: Pick<Clock, 'monotonic'>,
    log: Pick<Log, 'warn'>,
  ) {
    this.name = name;
    this.#lmdb = lmdb;
    this.#clock = clock;
    this.#log = log;
  }

  /** Looks at the readers again; call it every few seconds. */
  look(): ReaderAge {
    const oldest = oldestReader(this.#lmdb);
    // A reader of the latest state keeps no page from reuse; and readers that come and go would look like one.
    if (oldest === undefined || oldest.lag === 0) {
      this.#seen = undefined;
      return none;
    }
    const now = this.#clock.monotonic();
    if (this.#seen?.oldest.transaction !== oldest.transaction)
      this.#seen = { oldest, since: now, warned: false };
    const age = { seconds: (now - this.#seen.since) / 1000, commits: oldest.lag };
    if (now - this.#seen.since >= oldMs && !this.#seen.warned) {
      this.#seen.warned = true;
      this.#log.warn('a reader is old: the file of the store grows as long as it stays', {
        store: this.name,
        ...age,
      });
    }
    return age;
  }
}
