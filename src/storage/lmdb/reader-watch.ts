import type { RootDatabase } from 'lmdb';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

/** The oldest reader of a store that keeps freed pages from being reused. */
interface ReaderAge {
  /** Seconds since it was first seen. */
  readonly seconds: number;
  /** Commits since the state it reads. */
  readonly commits: number;
}

/** Age of a reader at which the log warns, ms. No report takes that long over one day of data. */
const oldMs = 60_000;

const none: ReaderAge = { seconds: 0, commits: 0 };

/** Watches the readers of one store. A leaked reader makes the file grow with each commit, and LMDB does not report it. */
export class ReaderWatch {
  readonly name: string;
  readonly #lmdb: RootDatabase<Buffer, Buffer>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Pick<Log, 'warn'>;
  /** The oldest reader at the last check, when it was first seen, and whether the log has warned of it. */
  #seen: { readonly oldest: OldestReader; readonly since: number; warned: boolean } | undefined;

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

  /** Checks the readers again. Call it every few seconds. */
  look(): ReaderAge {
    // A process killed while reading, such as a backup, has left its reader behind.
    this.#lmdb.readerCheck();
    const oldest = oldestReader(this.#lmdb);
    // A reader of the latest state holds back no pages. Without this rule, short-lived readers would look like one old one.
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
      this.#log.warn('an old reader keeps freed pages from being reused: the file of the store grows', {
        store: this.name,
        ...age,
      });
    }
    return age;
  }
}

interface OldestReader {
  readonly transaction: number;
  /** Commits since that state. */
  readonly lag: number;
}

/** The oldest reader of an environment in any thread or process; `undefined` without readers. */
export function oldestReader(lmdb: RootDatabase<Buffer, Buffer>): OldestReader | undefined {
  // One line per reader: process, thread, and the transaction it reads, or a dash.
  const reading = [...lmdb.readerList().matchAll(/^ *\d+ +[0-9a-f]+ +(\d+)$/gm)];
  if (reading.length === 0) return undefined;
  const transaction = Math.min(...reading.map(([, number]) => Number(number)));
  const { env } = lmdb as unknown as { env: { info(): { lastTxnId: number } } };
  return { transaction, lag: Math.max(0, env.info().lastTxnId - transaction) };
}
