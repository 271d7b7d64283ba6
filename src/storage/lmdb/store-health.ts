import type { RootDatabase } from 'lmdb';
import type { Clock, TimerClock } from '../../runtime/clock.ts';
import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';
import { type DiskState, probeDisk, type Shortage, shortageIn } from './disk.ts';

interface StoreHealthDeps {
  readonly log: Log;
  readonly data: string;
  readonly clock: Pick<TimerClock, 'after'>;
  /** Called when the store can no longer be trusted. The process must then end. */
  fatal(reason: string): void;
  /** Called when the store starts or stops accepting data. */
  changed?(): void;
}

const retryMs = 1000;

/** The lines of the log when a shortage begins and ends. */
const lines: Readonly<Record<Shortage, { readonly began: string; readonly ended: string }>> = {
  space: {
    began: 'the disk is full: responding with 503 until 16 MiB are free',
    ended: 'the disk has space again: accepting data',
  },
  files: {
    began: 'too many files are open: responding with 503 until a file can be opened',
    ended: 'files can be opened again: accepting data',
  },
};

/**
 * State of the store. The service recovers from a full disk and from a lack of descriptors, because the failed commit
 * changed nothing. Any other failure ends the process, because a successful fdatasync after a failure does not prove
 * that the data is on disk.
 */
export class StoreHealth {
  #state: DiskState = 'writable';
  readonly #deps: StoreHealthDeps;

  constructor(deps: StoreHealthDeps) {
    this.#deps = deps;
  }

  get ready(): boolean {
    return this.#state === 'writable';
  }

  /** The public reason why data is not accepted; `undefined` if only the log has a reason. */
  get reason(): string | undefined {
    return this.#state === 'files' ? 'too many files are open' : undefined;
  }

  failed(error: unknown): void {
    const { isFinal = false } = error as { isFinal?: boolean };
    if (this.#state === 'broken' || (this.#shortage !== undefined && !isFinal)) return;
    this.#state = isFinal ? 'broken' : (shortageIn(error) ?? probeDisk(this.#deps.data));
    const shortage = this.#shortage;
    if (shortage !== undefined) {
      this.#deps.log.error(lines[shortage].began, { cause: String(error) });
      this.#deps.clock.after(retryMs, () => this.#retry());
      this.#deps.changed?.();
      return;
    }
    this.#state = 'broken';
    this.#deps.log.error('the store failed: stopping', { cause: String(error) });
    this.#deps.fatal('the store failed');
  }

  get #shortage(): Shortage | undefined {
    return this.#state === 'writable' || this.#state === 'broken' ? undefined : this.#state;
  }

  #retry(): void {
    const shortage = this.#shortage;
    if (shortage === undefined) return;
    if (probeDisk(this.#deps.data) === 'writable') {
      this.#state = 'writable';
      this.#deps.log.info(lines[shortage].ended);
      this.#deps.changed?.();
      return;
    }
    this.#deps.clock.after(retryMs, () => this.#retry());
  }
}

export interface SlowCommits {
  /** Minimum duration of a commit that is logged, ms; 0 disables the warning. */
  readonly fromMs: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Measures the commits of one store, and warns of slow commits. */
export class CommitWatch {
  /** Durations of the commits, seconds. */
  readonly times = new Histogram();
  readonly #store: string;
  readonly #slow: SlowCommits | undefined;

  constructor(store: string, slow?: SlowCommits) {
    this.#store = store;
    this.#slow = slow?.fromMs === 0 ? undefined : slow;
  }

  /** Records a commit. @param size the amounts in the commit, for the log */
  took(ms: number, size: Readonly<Record<string, number>>): void {
    this.times.observe(ms / 1000);
    if (this.#slow === undefined || ms < this.#slow.fromMs) return;
    this.#slow.log.warn('a commit was slow', { store: this.#store, ms, ...size });
  }
}

/** The oldest reader of a store. While it reads, freed pages are not reused. */
interface ReaderAge {
  /** Seconds since the reader was first seen. */
  readonly seconds: number;
  /** Number of commits since the state that the reader reads. */
  readonly commits: number;
}

/** Age of a reader at which the log warns, ms. Even a report over a whole day of data takes less time. */
const oldMs = 60_000;

const none: ReaderAge = { seconds: 0, commits: 0 };

/**
 * Watches the readers of one store. LMDB does not report a leaked reader, which makes the file grow with each commit.
 */
export class ReaderWatch {
  readonly name: string;
  readonly #lmdb: RootDatabase<Buffer, Buffer>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Pick<Log, 'warn'>;
  /**
   * The oldest reader at the last check, the time when the reader was first seen, and true if a warning about the
   * reader was logged.
   */
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

  /** Checks the readers of the store. Call this every few seconds. */
  look(): ReaderAge {
    // Removes the readers of killed processes, such as a backup that was killed while it read.
    this.#lmdb.readerCheck();
    const oldest = oldestReader(this.#lmdb);
    // A reader of the latest state is ignored, because it does not prevent the reuse of pages. Otherwise several short
    // readers, one after the other, would look like one old reader.
    if (oldest === undefined || oldest.lag === 0) {
      this.#seen = undefined;
      return none;
    }
    const now = this.#clock.monotonic();
    if (this.#seen?.oldest.transaction !== oldest.transaction) this.#seen = { oldest, since: now, warned: false };
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
  /** Number of commits since the state that the reader uses. */
  readonly lag: number;
}

/** The oldest reader of an environment in any thread or process; `undefined` without readers. */
export function oldestReader(lmdb: RootDatabase<Buffer, Buffer>): OldestReader | undefined {
  // Each line is a reader: the process, the thread, and the transaction that it reads, or a dash.
  const reading = [...lmdb.readerList().matchAll(/^ *\d+ +[0-9a-f]+ +(\d+)$/gm)];
  if (reading.length === 0) return undefined;
  const transaction = Math.min(...reading.map(([, number]) => Number(number)));
  const { env } = lmdb as unknown as { env: { info(): { lastTxnId: number } } };
  return { transaction, lag: Math.max(0, env.info().lastTxnId - transaction) };
}
